import { defineEntity, OptionalProps, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import { allScopeNames, type Scope } from '../../kernel/contract/scopes.ts'
import { credentialColumns, isCredentialValid } from '../../kernel/database/credential.ts'
import { nullable, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { addMs, days } from '../../values/clock.ts'

export const keyEnvironments = ['sandbox', 'test', 'live'] as const
type Environment = (typeof keyEnvironments)[number]

export const MAX_API_KEYS = 1_000

export const modeOfEnvironment = (environment: Environment): Mode =>
  environment === 'live' ? 'live' : 'test'

const schema = defineEntity({
  ...tenantTable('ApiKey', 'keys'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...credentialColumns('key'),
    name: personal(p.text(), 'words', 'contract', 'word'),
    environment: plain(p.enum(keyEnvironments)),
    /** Null means every scope, including future ones. */
    granted: plain(p.array().columnType('text[]').name('scopes').$type<Scope[] | null>().strictNullable()),
    madeById: plain(nullable.string()),
    idleDays: nullable.integer(),
    boundTo: plain(nullable.string()),
    /** Whether it may write through MCP tools, which must be granted explicitly. */
    toolWrites: p.boolean(),
    sessionId: nullable.string(),
    personId: nullable.string(),
    /** Who made it in the console, or with a key of theirs; the last one who replaced it, since they know its secret. */
    madeByPersonId: plain(nullable.string()),
    /** The first of the keys that this one has replaced; null if it has replaced none. */
    firstId: plain(nullable.string()),
  },
})

export class ApiKey extends schema.class {
  declare readonly [OptionalProps]?: 'scopes'

  get scopes(): Scope[] {
    return this.granted ?? allScopeNames
  }

  get endsAt(): Date | null {
    const { idleDays, lastUsedAt, createdAt, expiresAt } = this
    const idle = idleDays === null ? null : addMs(lastUsedAt ?? createdAt, days(idleDays))
    return idle && (!expiresAt || idle < expiresAt) ? idle : expiresAt
  }

  /** Whether it is valid now. The caller checks its owner and its person. */
  isUsable(): boolean {
    return isCredentialValid({ revokedAt: this.revokedAt, expiresAt: this.endsAt })
  }

  hasScopesBeyond({ granted }: Pick<ApiKey, 'granted'>): boolean {
    return granted !== null && (this.granted === null || this.granted.some(scope => !granted.includes(scope)))
  }
}
schema.setClass(ApiKey)

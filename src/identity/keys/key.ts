import { defineEntity, OptionalProps, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import { type Scope, scopes } from '../../kernel/contract/scopes.ts'
import { credential, isOpen } from '../../kernel/database/credential.ts'
import { nullable, tenantTable } from '../../kernel/database/entity.ts'
import { after, days } from '../../values/clock.ts'
import type { Personal } from '../../values/personal.ts'

export const environments = ['sandbox', 'test', 'live'] as const
type Environment = (typeof environments)[number]

export const MAX_KEYS = 1_000

export const modeOf = (environment: Environment): Mode => (environment === 'live' ? 'live' : 'test')

const schema = defineEntity({
  ...tenantTable('Key', 'keys'),
  properties: {
    ...credential('key'),
    name: p.text(),
    environment: p.enum(environments),
    /** Null means every scope, including future ones. */
    granted: p.array().columnType('text[]').name('scopes').$type<Scope[] | null>().strictNullable(),
    madeById: nullable.string(),
    idleDays: nullable.integer(),
    boundTo: nullable.string(),
    /** Whether it may write through MCP tools, which must be granted explicitly. */
    toolWrites: p.boolean(),
    sessionId: nullable.string(),
    personId: nullable.string(),
  },
})

export class Key extends schema.class {
  declare readonly [OptionalProps]?: 'scopes'

  get scopes(): Scope[] {
    return this.granted ?? scopes
  }

  get endsAt(): Date | null {
    const { idleDays, lastUsedAt, createdAt, expiresAt } = this
    const idle = idleDays === null ? null : after(lastUsedAt ?? createdAt, days(idleDays))
    return idle && (!expiresAt || idle < expiresAt) ? idle : expiresAt
  }

  /** Whether it is valid now. The caller checks its owner and its person. */
  isUsable(): boolean {
    return isOpen({ revokedAt: this.revokedAt, expiresAt: this.endsAt })
  }

  hasScopesBeyond({ granted }: Pick<Key, 'granted'>): boolean {
    return granted !== null && (this.granted === null || this.granted.some(scope => !granted.includes(scope)))
  }
}
schema.setClass(Key)

export const keysPersonal = {
  keys: {
    personal: {
      name: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['environment', 'hint', 'scopes', 'made_by_id', 'bound_to'],
    about: { person: ['person_id'] },
    secret: ['hash'],
  },
} as const satisfies Personal

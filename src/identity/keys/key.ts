import { defineEntity, OptionalProps, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import { type Scope, scopes } from '../../kernel/contract/scopes.ts'
import { credential } from '../../kernel/database/credential.ts'
import { maybe, tenantTable } from '../../kernel/database/entity.ts'

export const environments = ['sandbox', 'test', 'live'] as const
export type Environment = (typeof environments)[number]

/** A sandbox is test data under another name. */
export const modeOf = (environment: Environment): Mode => (environment === 'live' ? 'live' : 'test')

const schema = defineEntity({
  ...tenantTable('Key', 'keys'),
  properties: {
    ...credential('key'),
    name: p.text(),
    environment: p.enum(environments),
    /** Null for all there are, those that later areas bring too. */
    granted: p.array().columnType('text[]').name('scopes').$type<Scope[] | null>().strictNullable(),
    /** The key that it was made with; null for the first one of an owner. */
    madeById: maybe.string(),
  },
})

export class Key extends schema.class {
  declare readonly [OptionalProps]?: 'scopes'

  get scopes(): Scope[] {
    return this.granted ?? scopes
  }

  /** Whether it may do something that the other key may not: now, or once there are more scopes. */
  hasScopesBeyond({ granted }: Key): boolean {
    return granted !== null && (this.granted === null || this.granted.some(scope => !granted.includes(scope)))
  }
}
schema.setClass(Key)

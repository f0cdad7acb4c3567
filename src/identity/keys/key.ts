import { defineEntity, OptionalProps, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import { type Scope, scopes } from '../../kernel/contract/scopes.ts'
import { credential } from '../../kernel/database/credential.ts'
import { nullable, tenantTable } from '../../kernel/database/entity.ts'

export const environments = ['sandbox', 'test', 'live'] as const
export type Environment = (typeof environments)[number]

/** Sandbox keys see the data of test mode. */
export const modeOf = (environment: Environment): Mode => (environment === 'live' ? 'live' : 'test')

const schema = defineEntity({
  ...tenantTable('Key', 'keys'),
  properties: {
    ...credential('key'),
    name: p.text(),
    environment: p.enum(environments),
    /** null = every scope, future ones included. */
    granted: p.array().columnType('text[]').name('scopes').$type<Scope[] | null>().strictNullable(),
    /** The key that created this one; null for the first key of an owner. */
    madeById: nullable.string(),
  },
})

export class Key extends schema.class {
  declare readonly [OptionalProps]?: 'scopes'

  get scopes(): Scope[] {
    return this.granted ?? scopes
  }

  /** Whether this key has a scope that the other lacks, now or once scopes are added. */
  hasScopesBeyond({ granted }: Pick<Key, 'granted'>): boolean {
    return granted !== null && (this.granted === null || this.granted.some(scope => !granted.includes(scope)))
  }
}
schema.setClass(Key)

import { defineEntity, OptionalProps, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/context.ts'
import { tenantTable } from '../../kernel/record.ts'
import { type Scope, scopes } from '../../kernel/scopes.ts'
import { credential } from '../../kernel/secrets.ts'

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
  },
})

export class Key extends schema.class {
  declare readonly [OptionalProps]?: 'scopes'

  get scopes(): Scope[] {
    return this.granted ?? scopes
  }
}
schema.setClass(Key)

import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

/** The most purposes of one request, and of an account in one mode, as one answer contains all of them. */
export const MAX_PURPOSES = 20
export const MAX_PURPOSES_IN_ALL = 100

const schema = defineEntity({
  ...tenantTable('Consent', 'consents'),
  properties: {
    ...record('consent'),
    purpose: p.text(),
    granted: p.boolean(),
    wordingVersion: p.text(),
    byType: p.text(),
    byId: nullable.string(),
  },
})

/** One change of a consent. It is never altered: the newest of a purpose counts. */
export class Consent extends schema.class {}
schema.setClass(Consent)

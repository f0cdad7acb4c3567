import { defineEntity, p } from '@mikro-orm/core'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'

/** The most purposes of one request, and of an account in one mode, as one answer contains all of them. */
export const MAX_PURPOSES_PER_REQUEST = 20
export const MAX_CONSENT_PURPOSES = 100

const schema = defineEntity({
  ...tenantTable('Consent', 'consents'),
  ...personalTable({ about: { person: ['by_id'] } }),
  properties: {
    ...recordColumns('consent'),
    purpose: plain(p.text()),
    granted: p.boolean(),
    wordingVersion: plain(p.text()),
    byType: plain(p.text()),
    /** A key, or a person of the account. */
    byId: personal(nullable.string(), 'name', 'claims', 'word'),
  },
})

/** One change of a consent. It is never altered: the newest of a purpose counts. */
export class Consent extends schema.class {}
schema.setClass(Consent)

import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { patternTextSchema, recordHead } from '../../values/schemas.ts'
import { MAX_CONSENT_PURPOSES, MAX_PURPOSES_PER_REQUEST } from './consent.ts'

const purpose = patternTextSchema(
  /^[a-z][a-z0-9_]*$/,
  50,
  'a purpose has small letters, digits and underscores, as in usage_analytics',
).meta({ description: 'The purpose of use.', examples: ['usage_analytics'] })

const wordingVersion = z
  .string()
  .trim()
  .min(1)
  .max(50)
  .meta({ description: 'Version of the wording that was shown.', examples: ['2026-11'] })

const granted = z.boolean().meta({ description: '`false`: refused or withdrawn.' })

const ConsentRecord = z
  .object({
    ...recordHead('consent'),
    purpose: z.string(),
    granted,
    wordingVersion: z.string(),
    by: z
      .object({ type: z.string(), id: z.string().nullable() })
      .meta({ description: 'The kind of caller, and the key or person.' }),
    createdAt: instant,
  })
  .meta({ id: 'Consent' })

const Consents = z
  .object({ consents: z.array(ConsentRecord).meta({ description: 'The newest change of each purpose.' }) })
  .meta({ id: 'Consents' })

const ConsentEvent = z.object({
  consentId: id('consent'),
  purpose: z.string(),
  granted: z.boolean(),
  wordingVersion: z.string(),
})

const consentChanged = declareEvent('An owner gave or withdrew consent to a purpose.', ConsentEvent)

const isOnce = (given: readonly { purpose: string }[]): boolean =>
  new Set(given.map(one => one.purpose)).size === given.length

const readers = operationsFor({ callers: ['key'], scope: 'gdpr:read' })
const writers = operationsFor({ callers: ['key'], scope: 'gdpr:write' })

export const consentApi = {
  getConsent: readers.get('/gdpr/consent', {
    summary: 'Get your consents',
    returns: [200, Consents],
  }),
  putConsent: writers.put('/gdpr/consent', {
    summary: 'Give or withdraw consent',
    description:
      'Changes only the purposes that are named. Consent can be withdrawn at any time, as easily as it was given. A change is a new record, and the earlier ones stay.',
    body: z.strictObject({
      purposes: z
        .array(z.strictObject({ purpose, granted, wordingVersion }))
        .min(1)
        .max(MAX_PURPOSES_PER_REQUEST)
        .refine(isOnce, 'each purpose once'),
    }),
    example: { purposes: [{ purpose: 'usage_analytics', granted: true, wordingVersion: '2026-11' }] },
    returns: [200, Consents],
    fails: {
      too_many_purposes: [
        400,
        `purposes: an account has at most ${MAX_CONSENT_PURPOSES}, including withdrawn ones. Use one of them.`,
      ],
    },
    emits: { 'consent.changed': consentChanged },
  }),
  listConsents: readers.list('/gdpr/consent/history', {
    summary: 'List all changes of your consent',
    description: 'Newest first: when, by whom, and which wording was shown.',
    filters: { purpose: purpose.optional() },
    item: ConsentRecord,
  }),
}

import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import {
  countrySchema,
  emailSchema,
  freeTextSchema,
  labelSchema,
  patternTextSchema,
  recordHead,
  recordTimestamps,
} from '../../values/schemas.ts'
import { type MerchantApplication, merchantApplicationMachine } from './application.ts'

export const applicationStatusSchema = z.enum(merchantApplicationMachine.states)

export const merchantApplicationMembers = {
  name: labelSchema.meta({ description: 'As customers know it.', examples: ['Bookshop'] }),
  legalName: labelSchema.meta({ examples: ['Bookshop GmbH'] }),
  country: countrySchema,
  website: z
    .url({ protocol: /^https$/ })
    .max(500)
    .meta({ examples: ['https://shop.example.com'] }),
  mcc: patternTextSchema(/^\d{4}$/, 4, 'a merchant category code has four digits')
    .nullable()
    .default(null)
    .meta({ examples: ['5942'] }),
  contactName: labelSchema.meta({ examples: ['Grace Hopper'] }),
  contactEmail: emailSchema,
}

const merchantMembers = {
  ...recordHead('merchant'),
  status: applicationStatusSchema,
  name: z.string(),
  legalName: z.string(),
  country: z.string(),
  website: z.string(),
  mcc: z.string().nullable(),
  publicKeyJwk: z
    .record(z.string(), z.string())
    .nullable()
    .meta({
      description: 'The public key to which data for the merchant is encrypted.',
      examples: [{ kty: 'OKP', crv: 'X25519', x: '3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08' }],
    }),
  thumbprint: z.string().nullable().meta({ description: 'Of that key (RFC 7638).' }),
}

export const MerchantRecord = z.object({ ...merchantMembers, ...recordTimestamps }).meta({ id: 'Merchant' })

export const MerchantApplicationRecord = z
  .object({
    ...merchantMembers,
    contactName: z.string(),
    contactEmail: z.string(),
    reason: z.string().nullable().meta({ description: 'Why it was rejected or revoked.' }),
    decidedAt: instant.nullable(),
    revokedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'MerchantApplication' })

const key = shownOnceSchema('mer_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ')

export const ApprovedApplicationRecord = MerchantApplicationRecord.extend({ key }).meta({
  id: 'ApprovedMerchantApplication',
})

export const CreatedMerchantKey = z
  .object({
    merchantId: id('merchant'),
    key,
    hint: z.string().meta({ description: 'Its last four characters.', examples: ['uQxZ'] }),
    replacedEndsAt: instant.meta({ description: 'Until when the key that it replaces works.' }),
  })
  .meta({ id: 'CreatedMerchantKey' })

export const decisionReasonBody = z.strictObject({
  reason: freeTextSchema.min(1).meta({ examples: ['The website sells something else.'] }),
})

const ApplicationEvent = z.object({
  merchantId: id('merchant'),
  status: applicationStatusSchema,
  name: z.string().max(200),
})

export const merchantApplicationEvents = {
  'merchant_application.submitted': declareEvent('A merchant has applied.', ApplicationEvent),
  'merchant_application.approved': declareEvent('A merchant was approved and has a key.', ApplicationEvent),
  'merchant_application.rejected': declareEvent('A merchant was rejected.', ApplicationEvent),
  'merchant_application.revoked': declareEvent(
    'A merchant was revoked. Its keys no longer work.',
    ApplicationEvent,
  ),
  'merchant.updated': declareEvent(
    'A merchant has changed its name or public key, or replaced its API key.',
    ApplicationEvent.extend({ changed: z.array(z.enum(['name', 'publicKeyJwk', 'key'])) }),
  ),
}

export const merchantApplicationEvent = ({ id: merchantId, status, name }: MerchantApplication) => ({
  merchantId,
  status,
  name,
})

export const merchantApplicationRefusals = {
  application_not_found: notFound('application'),
  application_decided: [400, 'The application is already decided. The first decision is final.'],
  application_not_approved: [400, 'Only an approved merchant can be revoked.'],
} as const satisfies Record<string, RefusalSpec>

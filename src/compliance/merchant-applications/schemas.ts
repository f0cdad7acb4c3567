import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, missing } from '../../kernel/contract/operation.ts'
import { shownOnce } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import {
  country,
  email,
  formattedText,
  freeText,
  label,
  recordHead,
  recordTail,
} from '../../values/schemas.ts'
import { applicationMachine, type MerchantApplication } from './application.ts'

export const status = z.enum(applicationMachine.states)

export const applicationMembers = {
  name: label.meta({ description: 'As customers know it.', examples: ['Bookshop'] }),
  legalName: label.meta({ examples: ['Bookshop GmbH'] }),
  country,
  website: z
    .url({ protocol: /^https$/ })
    .max(500)
    .meta({ examples: ['https://shop.example.com'] }),
  mcc: formattedText(/^\d{4}$/, 4, 'a merchant category code has four digits')
    .nullable()
    .default(null)
    .meta({ examples: ['5942'] }),
  contactName: label.meta({ examples: ['Grace Hopper'] }),
  contactEmail: email,
}

const merchantMembers = {
  ...recordHead('merchant'),
  status,
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

export const MerchantRecord = z.object({ ...merchantMembers, ...recordTail }).meta({ id: 'Merchant' })

export const ApplicationRecord = z
  .object({
    ...merchantMembers,
    contactName: z.string(),
    contactEmail: z.string(),
    reason: z.string().nullable().meta({ description: 'Why it was rejected or revoked.' }),
    decidedAt: instant.nullable(),
    revokedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'MerchantApplication' })

const key = shownOnce('mer_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ')

export const ApprovedRecord = ApplicationRecord.extend({ key }).meta({ id: 'ApprovedMerchantApplication' })

export const CreatedMerchantKey = z
  .object({
    merchantId: id('merchant'),
    key,
    hint: z.string().meta({ description: 'Its last four characters.', examples: ['uQxZ'] }),
    replacedEndsAt: instant.meta({ description: 'Until when the key that it replaces works.' }),
  })
  .meta({ id: 'CreatedMerchantKey' })

export const reasonGiven = z.strictObject({
  reason: freeText.min(1).meta({ examples: ['The website sells something else.'] }),
})

const ApplicationEvent = z.object({ merchantId: id('merchant'), status, name: z.string().max(200) })

export const merchantEvents = {
  'merchant_application.submitted': event('A merchant has applied.', ApplicationEvent),
  'merchant_application.approved': event('A merchant was approved and has a key.', ApplicationEvent),
  'merchant_application.rejected': event('A merchant was rejected.', ApplicationEvent),
  'merchant_application.revoked': event('A merchant was revoked. Its keys no longer work.', ApplicationEvent),
  'merchant.updated': event(
    'A merchant has changed its name or public key, or replaced its API key.',
    ApplicationEvent.extend({ changed: z.array(z.enum(['name', 'publicKeyJwk', 'key'])) }),
  ),
}

export const merchantEvent = ({ id: merchantId, status, name }: MerchantApplication) => ({
  merchantId,
  status,
  name,
})

export const merchantFails = {
  application_not_found: missing('application'),
  application_decided: [400, 'The application is already decided. The first decision is final.'],
  application_not_approved: [400, 'Only an approved merchant can be revoked.'],
} as const satisfies Record<string, Failure>

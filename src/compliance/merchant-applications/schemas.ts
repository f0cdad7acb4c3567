import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
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
  name: labelSchema.meta({ description: 'Name that customers know.', examples: ['Bookshop'] }),
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

export const MerchantApplicationRecord = z
  .object({
    ...recordHead('merchant'),
    status: applicationStatusSchema,
    name: z.string(),
    legalName: z.string(),
    country: z.string(),
    website: z.string(),
    mcc: z.string().nullable(),
    contactName: z.string(),
    contactEmail: z.string(),
    reason: z.string().nullable().meta({ description: 'Why the merchant was rejected or revoked.' }),
    decidedAt: instant.nullable(),
    revokedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'MerchantApplication' })

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
  'merchant_application.approved': declareEvent('A merchant was approved.', ApplicationEvent),
  'merchant_application.rejected': declareEvent('A merchant was rejected.', ApplicationEvent),
  'merchant_application.revoked': declareEvent('A merchant was revoked.', ApplicationEvent),
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

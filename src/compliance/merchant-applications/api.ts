import { z } from 'zod'
import { get, list, patch, post } from '../../kernel/contract/operation.ts'
import { encryptionKeySchema } from '../../values/encryption-key.ts'
import { timeRangeMembers } from '../../values/schemas.ts'
import {
  ApprovedApplicationRecord,
  applicationStatusSchema,
  CreatedMerchantKey,
  decisionReasonBody,
  MerchantApplicationRecord,
  MerchantRecord,
  merchantApplicationEvents,
  merchantApplicationMembers,
  merchantApplicationRefusals,
} from './schemas.ts'

const operator = { callers: ['dash'] } as const
const merchant = { callers: ['merchant'] } as const
const { application_not_found, application_decided, application_not_approved } = merchantApplicationRefusals

export const merchantApplicationsApi = {
  create: post('/merchant-applications', {
    ...operator,
    summary: 'Record the application of a merchant',
    description:
      'The application’s events belong to `customer_house`: `GET /events` with the dashboard secret and `X-Owner-Id`.',
    body: z.strictObject(merchantApplicationMembers),
    example: {
      name: 'Bookshop',
      legalName: 'Bookshop GmbH',
      country: 'DE',
      website: 'https://shop.example.com',
      mcc: '5942',
      contactName: 'Grace Hopper',
      contactEmail: 'grace@example.com',
    },
    returns: [201, MerchantApplicationRecord],
    emits: {
      'merchant_application.submitted': merchantApplicationEvents['merchant_application.submitted'],
    },
  }),
  list: list('/merchant-applications', {
    ...operator,
    summary: 'List the applications of merchants',
    description: 'Newest first.',
    filters: { status: applicationStatusSchema.optional(), ...timeRangeMembers },
    item: MerchantApplicationRecord,
  }),
  get: get('/merchant-applications/{id}', {
    ...operator,
    summary: 'Get the application of a merchant',
    returns: [200, MerchantApplicationRecord],
    fails: { application_not_found },
  }),
  approve: post('/merchant-applications/{id}/approve', {
    ...operator,
    summary: 'Approve a merchant',
    description: 'The merchant’s API key is in `key`, in this response only.',
    returns: [200, ApprovedApplicationRecord],
    fails: { application_not_found, application_decided },
    emits: { 'merchant_application.approved': merchantApplicationEvents['merchant_application.approved'] },
  }),
  reject: post('/merchant-applications/{id}/reject', {
    ...operator,
    summary: 'Reject the application of a merchant',
    body: decisionReasonBody,
    example: { reason: 'The website sells something else.' },
    returns: [200, MerchantApplicationRecord],
    fails: { application_not_found, application_decided },
    emits: { 'merchant_application.rejected': merchantApplicationEvents['merchant_application.rejected'] },
  }),
  revoke: post('/merchant-applications/{id}/revoke', {
    ...operator,
    summary: 'Revoke a merchant',
    description:
      'The merchant’s keys stop working at once and permanently. To return, the merchant applies again.',
    body: decisionReasonBody,
    example: { reason: 'It sold prohibited goods.' },
    returns: [200, MerchantApplicationRecord],
    fails: { application_not_found, application_not_approved },
    emits: { 'merchant_application.revoked': merchantApplicationEvents['merchant_application.revoked'] },
  }),
  me: get('/merchants/me', {
    ...merchant,
    summary: 'Get the merchant that your key belongs to',
    returns: [200, MerchantRecord],
    fails: { application_not_found },
  }),
  updateMe: patch('/merchants/me', {
    ...merchant,
    summary: 'Change your own name, or the public key to which data for you is encrypted',
    description: 'A weak or private key is refused, and neither stored nor logged. Null removes the key.',
    limits: { bodyKiB: 256 },
    body: z
      .strictObject({ name: merchantApplicationMembers.name, publicKeyJwk: encryptionKeySchema.nullable() })
      .partial(),
    example: {
      publicKeyJwk: {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      },
    },
    returns: [200, MerchantRecord],
    fails: { application_not_found },
    emits: { 'merchant.updated': merchantApplicationEvents['merchant.updated'] },
  }),
  rotateKey: post('/merchants/me/rotate-key', {
    ...merchant,
    summary: 'Replace the calling key',
    description:
      'The new key is in `key`, in this response only. The old key works for another hour, or for `overlapMinutes`: if this response is lost, replace it once more with the old one. Any earlier key ends at once.',
    body: z.strictObject({
      overlapMinutes: z
        .int()
        .min(0)
        .max(1_440)
        .default(60)
        .meta({ description: 'Minutes for which both keys work.' }),
    }),
    example: { overlapMinutes: 60 },
    returns: [201, CreatedMerchantKey],
    fails: { application_not_found },
    emits: { 'merchant.updated': merchantApplicationEvents['merchant.updated'] },
  }),
}

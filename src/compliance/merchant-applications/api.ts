import { z } from 'zod'
import { operator } from '../../kernel/contract/callers.ts'
import { timeRangeMembers } from '../../values/schemas.ts'
import {
  applicationStatusSchema,
  decisionReasonBody,
  MerchantApplicationRecord,
  merchantApplicationEvents,
  merchantApplicationMembers,
  merchantApplicationRefusals,
} from './schemas.ts'

const { application_not_found, application_decided, application_not_approved } = merchantApplicationRefusals

export const merchantApplicationsApi = {
  create: operator.post('/merchant-applications', {
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
  list: operator.list('/merchant-applications', {
    summary: 'List the applications of merchants',
    description: 'Newest first.',
    filters: { status: applicationStatusSchema.optional(), ...timeRangeMembers },
    item: MerchantApplicationRecord,
  }),
  get: operator.getOne(
    '/merchant-applications/{id}',
    'the application of a merchant',
    MerchantApplicationRecord,
    { application_not_found },
  ),
  approve: operator.post('/merchant-applications/{id}/approve', {
    summary: 'Approve a merchant',
    returns: [200, MerchantApplicationRecord],
    fails: { application_not_found, application_decided },
    emits: { 'merchant_application.approved': merchantApplicationEvents['merchant_application.approved'] },
  }),
  reject: operator.post('/merchant-applications/{id}/reject', {
    summary: 'Reject the application of a merchant',
    body: decisionReasonBody,
    example: { reason: 'The website sells something else.' },
    returns: [200, MerchantApplicationRecord],
    fails: { application_not_found, application_decided },
    emits: { 'merchant_application.rejected': merchantApplicationEvents['merchant_application.rejected'] },
  }),
  revoke: operator.post('/merchant-applications/{id}/revoke', {
    summary: 'Revoke a merchant',
    description: 'To return, the merchant applies again.',
    body: decisionReasonBody,
    example: { reason: 'It sold prohibited goods.' },
    returns: [200, MerchantApplicationRecord],
    fails: { application_not_found, application_not_approved },
    emits: { 'merchant_application.revoked': merchantApplicationEvents['merchant_application.revoked'] },
  }),
}

import { z } from 'zod'
import { get, post } from '../../kernel/contract/operation.ts'
import type { IdentityNotice } from '../../ports/identity-verification.ts'
import { ProcessStatusRecord } from '../../values/schemas.ts'
import { decisionEvents, documentEvents, kycFails } from './schemas.ts'

const { submission_not_found, document_not_found } = kycFails

/** Whether there was anything to do. */
const acted = [200, z.object({ acted: z.boolean() })] as const

const step = { callers: [], returns: acted, fails: { submission_not_found }, emits: decisionEvents } as const
const outside = { ...step, run: 'outside', requires: 'identityVerification' } as const

export const steps = ['submit', 'inquire'] as const

/** Only the door makes one, from a notice whose signature is proven. */
const notice = z.custom<IdentityNotice>(
  value => typeof value === 'object' && value !== null && 'reference' in value && 'status' in value,
  'must be a notice of the identity provider',
)

/** The steps of the process. Each may be repeated: a step that is not due changes nothing. */
export const stepsApi = {
  processStatus: get('/kyc/submissions/{id}/status', {
    readsClock: true,
    summary: 'How a submission stands',
    callers: [],
    returns: [
      200,
      ProcessStatusRecord.extend({
        next: z.enum(steps).nullable().meta({ description: 'What is done when it is due.' }),
      }),
    ],
    fails: { submission_not_found },
  }),
  submit: post('/kyc/submissions/{id}/submit', { ...outside, summary: 'Hand a person to the provider' }),
  inquire: post('/kyc/submissions/{id}/inquire', { ...outside, summary: 'Ask the provider about a person' }),
  /** Takes a notice that the provider sends by itself; it may send it again. */
  noticed: post('/kyc/submissions/noticed', {
    ...step,
    summary: 'Take note of what the provider tells',
    body: notice,
  }),
  /** Erases a document whose time is over, by the tenant's clock, and nothing before that or again. */
  eraseDocument: post('/kyc/documents/{id}/erase', {
    summary: 'Erase a document',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    fails: { document_not_found },
    emits: { 'kyc.document_erased': documentEvents['kyc.document_erased'] },
  }),
}

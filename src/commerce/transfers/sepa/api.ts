import { z } from 'zod'
import { payeeVerificationCodes } from '../../../iso20022/pain002.ts'
import { get, notFound, post, type RefusalSpec } from '../../../kernel/contract/operation.ts'
import { id } from '../../../values/ids.ts'
import { ProcessStatusRecord } from '../../../values/schemas.ts'
import { isoReasonSchema, sepaTransferEvents, TransferRecord } from '../schemas.ts'

const steps = ['verify', 'submit', 'lapse', 'inquire'] as const

const transfer_not_found = notFound('transfer')

const acted = [200, z.object({ acted: z.boolean() })] as const

const step = {
  callers: [],
  returns: acted,
  fails: { transfer_not_found },
  emits: sepaTransferEvents,
} as const
const outside = { ...step, run: 'external', requires: 'sepaRail' } as const

/** Each step may be repeated. A step that is not due changes nothing. */
export const sepaTransferStepsApi = {
  status: get('/transfers/{id}/status', {
    readsClock: true,
    summary: 'Get the status of a transfer’s process',
    callers: [],
    returns: [
      200,
      ProcessStatusRecord.extend({
        next: z.enum(steps).nullable().meta({ description: 'The next step.' }),
      }),
    ],
    fails: { transfer_not_found },
  }),
  verify: post('/transfers/{id}/verify', {
    ...outside,
    summary: 'Ask the payee’s bank about the name',
  }),
  /** The state is `submitted` before the rail is called, so a repeated step never calls it a second time. */
  submit: post('/transfers/{id}/submit', { ...outside, summary: 'Hand a transfer to the rail' }),
  inquire: post('/transfers/{id}/inquire', { ...outside, summary: 'Ask the rail about a transfer' }),
  /** Cancels only after the deadline, by the tenant's clock. */
  lapse: post('/transfers/{id}/lapse', {
    ...step,
    summary: 'Cancel a transfer that was not confirmed in time',
  }),
}

const transferId = id('transfer')
const code = isoReasonSchema.meta({
  description: 'Reason code of ISO 20022.',
  examples: ['AC04'],
})

const fails = {
  transfer_not_found,
  transfer_not_submitted: [400, 'The transfer is not at the bank.'],
  test_mode_only: [400, 'The bank can only be simulated in test mode. Use a sandbox or test key.'],
} as const satisfies Record<string, RefusalSpec>

const simulated = {
  tag: 'Sandbox',
  callers: ['key'],
  scope: 'sandbox:write',
  returns: [200, TransferRecord],
  fails,
  emits: sepaTransferEvents,
} as const

const simulatedBody = z.strictObject({ transferId, reasonCode: code.nullable().default(null) })
const example = { transferId: 'transfer_01jd8x2m4ye7k9v0c3q5r6t8wz', reasonCode: 'AC04' }
const description = 'Processed like a notice from the bank. A repeated notice changes nothing.'

/** Test mode only: the caller plays the bank, and sends a notice as the rail would. */
export const simulateSepaApi = {
  simulateSettle: post('/simulate/sepa/settle', {
    ...simulated,
    summary: 'Settle a submitted transfer',
    description,
    body: z.strictObject({ transferId }),
    example: { transferId: example.transferId },
  }),
  simulateReject: post('/simulate/sepa/reject', {
    ...simulated,
    summary: 'Reject a submitted transfer',
    description,
    body: simulatedBody,
    example,
  }),
  simulateVerify: post('/simulate/sepa/verify', {
    ...simulated,
    summary: 'Report the bank’s verification of a submitted transfer’s payee',
    description:
      'Processed like a status report (pain.002) of the bank: RCVC match, RVMC close match, RVNM no match, RVNA not possible, RVCM a file in which some do not match. All but RCVC wait for `confirm-payee`. Of several reports, the most doubtful counts. A transfer of € 777.06 stays submitted.',
    body: z.strictObject({
      transferId,
      status: z.enum(payeeVerificationCodes),
      suggestedName: z
        .string()
        .trim()
        .min(1)
        .max(140)
        .nullable()
        .default(null)
        .meta({ description: 'For a close match: the name that the bank knows.', examples: ['Adler & Co'] }),
    }),
    example: { transferId: example.transferId, status: 'RVMC', suggestedName: 'Adler & Co' },
  }),
  simulateReturn: post('/simulate/sepa/return', {
    ...simulated,
    summary: 'Return a transfer',
    description,
    body: simulatedBody,
    example,
  }),
}

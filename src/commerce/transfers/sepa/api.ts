import { z } from 'zod'
import { payeeVerificationCodes } from '../../../iso20022/pain002.ts'
import { notFound, post, type RefusalSpec } from '../../../kernel/contract/operation.ts'
import { step } from '../../../kernel/contract/step.ts'
import { id } from '../../../values/ids.ts'
import { isoReasonSchema, sepaTransferEvents, TransferRecord } from '../schemas.ts'

const transfer_not_found = notFound('transfer')

const emits = sepaTransferEvents

/** A step that is not due changes nothing, so each may be repeated. */
export const transferSteps = {
  verify: step('transfers.verify', {
    summary: 'Ask the payee’s bank about the name',
    emits,
    calls: 'sepaRail',
  }),
  lapse: step('transfers.lapse', { summary: 'Cancel a transfer that was not confirmed in time', emits }),
  submit: step('transfers.submit', { summary: 'Hand a transfer to the rail', emits, calls: 'sepaRail' }),
  inquire: step('transfers.inquire', { summary: 'Ask the rail about a transfer', emits, calls: 'sepaRail' }),
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

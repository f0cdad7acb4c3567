import { z } from 'zod'
import { payeeStatuses } from '../../../iso20022/pain002.ts'
import { type Failure, get, missing, post } from '../../../kernel/contract/operation.ts'
import { id } from '../../../values/ids.ts'
import { ProcessStatusRecord } from '../../../values/schemas.ts'
import { isoReason, sepaTransferEvents, TransferRecord } from '../schemas.ts'

const steps = ['verify', 'submit', 'lapse', 'inquire'] as const

const transfer_not_found = missing('transfer')

const acted = [200, z.object({ acted: z.boolean() })] as const

const step = {
  callers: [],
  returns: acted,
  fails: { transfer_not_found },
  emits: sepaTransferEvents,
} as const
const outside = { ...step, run: 'outside', requires: 'sepaRail' } as const

/** Each step may be repeated: a step that is not due changes nothing. */
export const stepsApi = {
  status: get('/transfers/{id}/status', {
    readsClock: true,
    summary: 'How a transfer stands',
    callers: [],
    returns: [
      200,
      ProcessStatusRecord.extend({
        next: z.enum(steps).nullable().meta({ description: 'What is done when it is due.' }),
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
  lapse: post('/transfers/{id}/lapse', { ...step, summary: 'Cancel what nobody has confirmed in time' }),
}

const transferId = id('transfer')
const code = isoReason.meta({
  description: 'Why, by a code of ISO 20022.',
  examples: ['AC04'],
})

const fails = {
  transfer_not_found,
  transfer_not_submitted: [400, 'The transfer is not at the bank.'],
  test_mode_only: [400, 'Only in test mode the bank can be played: use a sandbox or test key.'],
} as const satisfies Record<string, Failure>

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
const description = 'By the same way as a notice of the bank. What it has told before changes nothing.'

/** Test mode only: the caller plays the bank and sends a notice as the rail would. */
export const simulateApi = {
  simulateSettle: post('/simulate/sepa/settle', {
    ...simulated,
    summary: 'Let a submitted transfer settle',
    description,
    body: z.strictObject({ transferId }),
    example: { transferId: example.transferId },
  }),
  simulateReject: post('/simulate/sepa/reject', {
    ...simulated,
    summary: 'Let a submitted transfer be rejected',
    description,
    body: simulatedBody,
    example,
  }),
  simulateVerify: post('/simulate/sepa/verify', {
    ...simulated,
    summary: 'Let the bank report on the payee of a submitted transfer',
    description:
      'By the same way as a status report (pain.002) of the bank: RCVC match, RVMC close match, RVNM no match, RVNA not possible, RVCM a file in which some do not match. All but RCVC wait for `confirm-payee`. Of several the most doubtful one counts. A transfer over € 777.06 stays submitted meanwhile.',
    body: z.strictObject({
      transferId,
      status: z.enum(payeeStatuses),
      suggestedName: z
        .string()
        .trim()
        .min(1)
        .max(140)
        .nullable()
        .default(null)
        .meta({ description: 'Of a close match: the name that the bank knows.', examples: ['Adler & Co'] }),
    }),
    example: { transferId: example.transferId, status: 'RVMC', suggestedName: 'Adler & Co' },
  }),
  simulateReturn: post('/simulate/sepa/return', {
    ...simulated,
    summary: 'Let a transfer come back',
    description,
    body: simulatedBody,
    example,
  }),
}

import { z } from 'zod'
import { get, missing, post } from '../../../kernel/contract/operation.ts'
import { ProcessStatusRecord } from '../../../values/schemas.ts'
import { isoReason, sepaTransferEvents } from '../schemas.ts'
import { notices } from './apply-notice.ts'

export const steps = ['verify', 'submit', 'lapse', 'inquire'] as const

const transfer_not_found = missing('transfer')

/** Whether there was anything to do. */
const acted = [200, z.object({ acted: z.boolean() })] as const

const step = {
  callers: [],
  returns: acted,
  fails: { transfer_not_found },
  emits: sepaTransferEvents,
} as const
const outside = { ...step, run: 'outside', requires: 'sepaRail' } as const

/** The steps of a transfer's process. Each may be repeated: a step that is not due changes nothing. */
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
  /** Asks for the status of the payment and for the answer to a recall, when that is due. */
  inquire: post('/transfers/{id}/inquire', { ...outside, summary: 'Ask the rail about a transfer' }),
  /** Cancels only after the deadline, by the tenant's clock. */
  lapse: post('/transfers/{id}/lapse', { ...step, summary: 'Cancel what nobody has confirmed in time' }),
  /** Takes a notice that the rail sends by itself; it may send it again. */
  noticed: post('/transfers/{id}/noticed', {
    callers: [],
    summary: 'Take note of what the rail tells',
    body: z.strictObject({
      notice: z.enum(notices),
      reasonCode: isoReason.nullable().default(null),
    }),
    example: { notice: 'settled' },
    returns: acted,
    fails: {
      transfer_not_found,
      transfer_not_submitted: [400, 'The transfer is not at the rail.'],
    },
    emits: sepaTransferEvents,
  }),
}

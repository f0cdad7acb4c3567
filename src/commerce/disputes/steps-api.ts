import { z } from 'zod'
import { type IncomingMessage, incomingMessage, MessageAnswer } from '../../cards/authorizations/index.ts'
import { get, post } from '../../kernel/contract/operation.ts'
import { ProcessStatusRecord } from '../../values/schemas.ts'
import { disputeEvents } from './events.ts'
import { calls } from './schedule.ts'
import { lookupFails } from './schemas.ts'

const { 'dispute.created': _, ...laterEvents } = disputeEvents

/** Whether there was anything to do. */
const acted = [200, z.object({ acted: z.boolean() })] as const

const step = { callers: [], returns: acted, fails: lookupFails, emits: laterEvents } as const

export type { IncomingMessage }

/** The steps of the process. Each may be repeated: a step that is not due changes nothing. */
export const stepsApi = {
  processStatus: get('/disputes/{id}/status', {
    readsClock: true,
    summary: 'How a dispute stands',
    callers: [],
    returns: [
      200,
      ProcessStatusRecord.extend({
        next: z
          .enum([...calls, 'deadline'])
          .nullable()
          .meta({ description: 'What is done when it is due.' }),
      }),
    ],
    fails: lookupFails,
  }),
  /** Gives back provisionally, reminds, and submits or lets lapse, each at its time. */
  followDeadlines: post('/disputes/{id}/follow-deadlines', {
    ...step,
    summary: 'Do what is due for a dispute',
  }),
  /** Opens, documents, submits, withdraws, or asks how the network has decided. */
  callProcessor: post('/disputes/{id}/call-processor', {
    ...step,
    summary: 'Call the card processor about a dispute',
    run: 'outside',
    requires: 'cardProcessor',
  }),
  /** What the network says of a dispute by itself; the door of the card processor runs it. */
  notice: post('/rails/card-processor/disputes', {
    summary: 'Take what the card network says of a dispute',
    callers: [],
    body: incomingMessage,
    returns: [200, MessageAnswer],
    emits: laterEvents,
  }),
}

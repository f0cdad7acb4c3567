import { z } from 'zod'
import { get, missing, post } from '../../kernel/contract/operation.ts'
import { ProcessStatusRecord } from '../../values/schemas.ts'
import { steps } from './due.ts'
import { cardEvents, purseEvents, stepEvents } from './schemas.ts'

const fails = { card_not_found: missing('card') }

const step = {
  callers: [],
  /** Whether there was anything to do. */
  returns: [200, z.object({ acted: z.boolean() })],
  fails,
} as const

const outside = { ...step, run: 'outside', requires: 'cardProcessor', emits: stepEvents } as const

/** The steps of a card's process. Each may be repeated: a step that is not due changes nothing. */
export const stepsApi = {
  /** The process of the card reads this whenever the card has changed. */
  status: get('/cards/{id}/status', {
    readsClock: true,
    summary: 'Get the status of a card’s process',
    callers: [],
    returns: [
      200,
      ProcessStatusRecord.extend({
        next: z.enum(steps).nullable().meta({ description: 'What is done when it is due.' }),
      }),
    ],
    fails,
  }),
  issue: post('/cards/{id}/issue', { ...outside, summary: 'Ask the processor for a card' }),
  replace: post('/cards/{id}/replace-number', {
    ...outside,
    summary: 'Ask the processor for another number of a card',
  }),
  tell: post('/cards/{id}/tell-processor', {
    ...outside,
    summary: 'Tell the processor of the state, limits and controls of a card',
  }),
  /** Closes nothing before its time, by the tenant's clock. */
  end: post('/cards/{id}/end', {
    ...step,
    summary: 'Let end what has reached its time: a number that was replaced, a card',
    emits: { 'card.closed': cardEvents['card.closed'] },
  }),
  returnPurse: post('/cards/{id}/return-purse', {
    ...step,
    summary: 'Give back what the purse of a closed card has',
    emits: purseEvents,
  }),
  /** A step in the deletion of an agent: closes a batch of its cards, and is repeated until none is open. */
  endForAgent: post('/agents/{id}/end-cards', {
    summary: 'Close the cards of an agent that is being deleted',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    emits: { 'card.closed': cardEvents['card.closed'], ...purseEvents },
  }),
}

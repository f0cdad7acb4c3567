import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import type { Failure } from '../../kernel/contract/operation.ts'
import { missing } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { CardControls, usage } from '../cards/index.ts'
import { cardRequestMachine, requestTypes } from './card-request.ts'

export const status = z.enum(cardRequestMachine.states)
export const type = z.enum(requestTypes)

const Limits = z.object({
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
})

export const CardRequestRecord = z
  .object({
    ...recordHead('cardreq'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable().meta({ description: 'The delegation whose token has asked.' }),
    type,
    status,
    cardId: id('card').nullable().meta({
      description: 'The card whose limits are to change; for a new card null until it is issued or refused.',
    }),
    usage: usage.nullable(),
    displayName: z.string().nullable(),
    limits: Limits.meta({ description: 'As they are asked for; null: this one is not asked for.' }),
    controls: CardControls.nullable(),
    reason: z.string(),
    approvedLimits: Limits.nullable().meta({
      description: 'As they were approved; null: nobody has approved the request.',
    }),
    answeredAt: instant.nullable(),
    answeredBy: z
      .object({
        type: z.enum(['key', 'console', 'operator']),
        id: z.string().nullable(),
        name: z.string().nullable(),
      })
      .nullable()
      .meta({
        description: 'A key, a person in the console, or an operator by the name that came with the signal.',
      }),
    comment: z
      .string()
      .nullable()
      .meta({ description: 'What was said with the answer, or with the cancellation.' }),
    failureReason: z
      .string()
      .nullable()
      .meta({ description: 'Why what was approved could not be done; null unless it is `failed`.' }),
    expiresAt: instant.meta({ description: 'Until then a person can answer.' }),
    workflowId: z.string().meta({ description: 'The run to find in the Temporal Web UI.' }),
    ...recordTail,
  })
  .meta({ id: 'CardRequest' })

const CardRequestEvent = z.object({
  requestId: id('cardreq'),
  agentId: id('agent'),
  cardId: id('card').nullable(),
  type,
  status,
  ...Limits.shape,
  reason: z.string().max(200).optional(),
})

export const requestEvents = {
  'card_limit_request.updated': event(
    'A request of an agent for a card, or for other limits of one, has been made, answered or carried out, or has ended.',
    CardRequestEvent,
  ),
}

const request_not_found = missing('card request')

export const lookupFails = { request_not_found } as const satisfies Record<string, Failure>

export const answerFails = {
  request_not_found,
  request_not_waiting: [400, 'The request does not wait for an answer any more.'],
  request_expired: [400, 'Nobody has answered the request within 72 hours: make another one.'],
} as const satisfies Record<string, Failure>

import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { agent_required, type Failure, get, list, missing, post } from '../../kernel/contract/operation.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import {
  freeText,
  ownAgent,
  ProcessStatusRecord,
  recordHead,
  recordTail,
  timeRange,
} from '../../values/schemas.ts'
import { CardControls, ControlsBody, cardEvents, displayName, usage } from '../cards/index.ts'
import { cardRequestMachine, limitNames, MAX_PENDING, requestTypes } from './card-request.ts'

const status = z.enum(cardRequestMachine.states)
export const type = z.enum(requestTypes)

const Limits = z.object({
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
})

const CardRequestRecord = z
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

const lookupFails = { request_not_found } as const satisfies Record<string, Failure>

const answerFails = {
  request_not_found,
  request_not_waiting: [400, 'The request does not wait for an answer any more.'],
  request_expired: [400, 'Nobody has answered the request within 72 hours: make another one.'],
} as const satisfies Record<string, Failure>

const NO_NUMBER = 'No operation on cards takes one: leave it out.'

const limit = (description: string) => euros.nullable().default(null).meta({ description })

const requestedLimits = z.strictObject({
  maxTransactionEuros: limit('The most that one payment may be. Null: not asked for.'),
  dailyLimitEuros: limit('The most for a UTC day. Null: not asked for.'),
  monthlyLimitEuros: limit('The most for a calendar month. Null: not asked for.'),
})

/** A request that only changes limits is about an existing card, so it has none of these. */
const newCardMembers = ['usage', 'displayName', 'controls'] as const

const body = z
  .strictObject({
    type,
    agentId: ownAgent,
    cardId: id('card').optional().meta({ description: 'The card whose limits are to change.' }),
    usage: usage.optional(),
    displayName: displayName.optional().meta({ description: 'The agent’s name, if it is left out.' }),
    limits: requestedLimits.prefault({}).meta({
      description: 'For `limit_change` those that are to change; the others stay.',
    }),
    controls: ControlsBody.optional(),
    reason: freeText.min(1).meta({ examples: ['Papers for the literature review'] }),
  })
  .superRefine((request, context) => {
    const addIssue = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    if (request.type === 'new_card') {
      if (request.cardId !== undefined) addIssue('cardId', 'a new card has none yet: leave it out')
      return
    }
    if (request.cardId === undefined) addIssue('cardId', 'name the card whose limits are to change')
    if (limitNames.every(name => request.limits[name] === null))
      addIssue('limits', 'give at least one limit that is to change')
    for (const name of newCardMembers)
      if (request[name] !== undefined) addIssue(name, 'only a new card is asked for with it: leave it out')
  })

const approvedLimit = (description: string) => euros.nullable().optional().meta({ description })

const answer = { callers: ['key'], scope: 'card-requests:approve' } as const
const readers = { callers: ['key', 'agent'], scope: 'card-requests:read' } as const
const requesters = { callers: ['key', 'agent'], scope: 'card-requests:write' } as const

export const cardRequestsApi = {
  create: post('/card-requests', {
    ...requesters,
    summary: 'Ask for a card, or for other limits of one',
    description: [
      'A person answers within 72 hours: `approve`, perhaps with lower limits, or `deny`. Until then nothing has changed. `new_card` asks for a card of the agent, `limit_change` for other limits of a card that it has.',
      `What is approved is carried out by a durable process: \`issued\` once the processor has issued the card, \`changed\` once the limits have changed, \`failed\` if it cannot be done any more. \`card_limit_request.updated\` tells each state. An agent has at most ${MAX_PENDING} requests that wait.`,
    ].join('\n\n'),
    body: withoutCardNumbers(body, NO_NUMBER),
    limits: { bodyKiB: 256 },
    example: {
      type: 'new_card',
      agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      usage: 'multi',
      limits: { maxTransactionEuros: 50, dailyLimitEuros: 100, monthlyLimitEuros: 200 },
      reason: 'Papers for the literature review',
    },
    returns: [201, CardRequestRecord],
    fails: {
      agent_required,
      agent_not_found: missing('agent'),
      agent_not_active: [400, 'The agent is frozen or being deleted: it asks for nothing.'],
      card_not_found: [404, 'cardId: the agent has no such card.'],
      card_closed: [400, 'cardId: the card is closed for good. Ask for a new one.'],
      card_pending: [400, 'cardId: the processor has not issued the card yet. Wait until it has.'],
      limits_as_they_are: [400, 'limits: the card has these limits already.'],
      too_many_pending: [
        400,
        `The agent has ${MAX_PENDING} requests that wait. Wait for an answer, or cancel one of them.`,
      ],
    },
    emits: requestEvents,
  }),
  list: list('/card-requests', {
    ...readers,
    summary: 'List card requests',
    description: 'Newest first.',
    filters: {
      status: status.optional(),
      type: type.optional(),
      agentId: id('agent').optional(),
      cardId: id('card').optional(),
      ...timeRange,
    },
    item: CardRequestRecord,
  }),
  get: get('/card-requests/{id}', {
    ...readers,
    summary: 'Get a card request',
    returns: [200, CardRequestRecord],
    fails: lookupFails,
  }),
  approve: post('/card-requests/{id}/approve', {
    ...answer,
    summary: 'Approve a card request',
    description:
      'An approver may lower the limits that are asked for, and may add one that is not. Nobody can raise or drop one here: set the limits of the card instead, once it is there. The answer is `approved`; the process carries it out at once.',
    requires: 'cardProcessor',
    body: withoutCardNumbers(
      z.strictObject({
        limits: z
          .strictObject({
            maxTransactionEuros: approvedLimit('At most what is asked for; that, if it is left out.'),
            dailyLimitEuros: approvedLimit('At most what is asked for; that, if it is left out.'),
            monthlyLimitEuros: approvedLimit('At most what is asked for; that, if it is left out.'),
          })
          .prefault({}),
        comment: freeText.nullable().default(null),
      }),
      NO_NUMBER,
    ),
    example: {
      limits: { maxTransactionEuros: 25, dailyLimitEuros: 50, monthlyLimitEuros: 100 },
      comment: 'For a start',
    },
    returns: [200, CardRequestRecord],
    fails: {
      ...answerFails,
      agent_not_active: [400, 'The agent is frozen or being deleted: it gets nothing.'],
      card_closed: [400, 'The card is closed for good: deny the request.'],
      limit_not_lowered: [400, 'limits: an approver may lower a limit, and neither raise nor drop it.'],
    },
    emits: requestEvents,
  }),
  deny: post('/card-requests/{id}/deny', {
    ...answer,
    summary: 'Deny a card request',
    body: withoutCardNumbers(z.strictObject({ reason: freeText.min(1) }), NO_NUMBER),
    example: { reason: 'One card is enough' },
    returns: [200, CardRequestRecord],
    fails: answerFails,
    emits: requestEvents,
  }),
  cancel: post('/card-requests/{id}/cancel', {
    ...requesters,
    summary: 'Cancel a card request',
    description: 'While it waits for an answer.',
    body: withoutCardNumbers(z.strictObject({ comment: freeText.nullable().default(null) }), NO_NUMBER),
    example: { comment: 'No longer needed' },
    returns: [200, CardRequestRecord],
    fails: answerFails,
    emits: requestEvents,
  }),
  status: get('/card-requests/{id}/status', {
    readsClock: true,
    summary: 'Get the status of a card request’s process',
    callers: [],
    returns: [200, ProcessStatusRecord],
    fails: lookupFails,
  }),
  /** Changes nothing before the deadline, by the tenant's clock, and nothing when it is repeated. */
  expire: post('/card-requests/{id}/expire', {
    summary: 'Expire a card request',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    fails: lookupFails,
    emits: requestEvents,
  }),
  carryOut: post('/card-requests/{id}/carry-out', {
    summary: 'Issue the card, or change the limits, that a request was approved for',
    callers: [],
    requires: 'cardProcessor',
    returns: [200, z.object({ done: z.boolean() })],
    fails: lookupFails,
    emits: {
      ...requestEvents,
      'card.created': cardEvents['card.created'],
      'card.limits_changed': cardEvents['card.limits_changed'],
    },
  }),
}

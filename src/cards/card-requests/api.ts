import { z } from 'zod'
import {
  ApprovalProgressRecord,
  approvalEventMembers,
  approverRefusals,
} from '../../identity/approvals/index.ts'
import { widening, wideningBySeveral } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { agentRequiredRefusal, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import {
  agentIdSchema,
  freeTextSchema,
  recordHead,
  recordTimestamps,
  timeRangeMembers,
} from '../../values/schemas.ts'
import {
  CardControls,
  CardControlsBody,
  cardDisplayName,
  cardEvents,
  cardUsageSchema,
} from '../cards/index.ts'
import {
  cardLimitNames,
  cardRequestMachine,
  cardRequestTypes,
  MAX_PENDING_CARD_REQUESTS,
} from './card-request.ts'

const status = z.enum(cardRequestMachine.states)
export const cardRequestTypeSchema = z.enum(cardRequestTypes)

const Limits = z.object({
  maxTransactionCents: moneySchema.nullable(),
  dailyLimitCents: moneySchema.nullable(),
  monthlyLimitCents: moneySchema.nullable(),
})

const CardRequestRecord = z
  .object({
    ...recordHead('cardreq'),
    agentId: id('agent'),
    delegationId: id('delegation')
      .nullable()
      .meta({ description: 'The delegation whose token made the request.' }),
    type: cardRequestTypeSchema,
    status,
    cardId: id('card').nullable().meta({
      description: 'The card whose limits to change. For a new card: null until it is issued or refused.',
    }),
    usage: cardUsageSchema.nullable(),
    displayName: z.string().nullable(),
    limits: Limits.meta({ description: 'The requested limits; null: not requested.' }),
    controls: CardControls.nullable(),
    reason: z.string(),
    approvedLimits: Limits.nullable().meta({
      description:
        'The approved limits; null: not approved. Where the policy asks several people, those that the first of them has approved.',
    }),
    approval: ApprovalProgressRecord.nullable().meta({
      description:
        'The approvals that the agent’s policy asks several people for, by the highest requested limit. Null if one person approves.',
    }),
    answeredAt: instant.nullable(),
    answeredBy: z
      .object({
        type: z.enum(['key', 'console', 'operator', 'policy']),
        id: z.string().nullable(),
        name: z.string().nullable(),
      })
      .nullable()
      .meta({
        description:
          'A key, a person in the console, the name that an operator sent with the signal, or the policy whose step was not approved in time.',
      }),
    comment: z.string().nullable().meta({ description: 'Comment on the decision or cancellation.' }),
    failureReason: z
      .string()
      .nullable()
      .meta({ description: 'Why the approval could not be carried out; null unless `failed`.' }),
    expiresAt: instant.meta({ description: 'The time until which a person can answer.' }),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'CardRequest' })

const CardRequestEvent = z.object({
  requestId: id('cardreq'),
  agentId: id('agent'),
  cardId: id('card').nullable(),
  type: cardRequestTypeSchema,
  status,
  ...Limits.shape,
  reason: z.string().max(200).optional(),
})

export const cardRequestEvents = {
  'card_limit_request.updated': declareEvent(
    'An agent’s request for a card, or for a change of limits, has been made, answered or carried out, or has ended.',
    CardRequestEvent,
  ),
}

const CardApprovalEvent = CardRequestEvent.extend(approvalEventMembers)

const approvalEvents = {
  'card_limit_request.approval_recorded': declareEvent(
    'A person has approved a card request that needs further approvals.',
    CardApprovalEvent.extend({ personId: id('person') }),
  ),
  'card_limit_request.approval_escalated': declareEvent(
    'A step of the approval has ended incomplete, or too few people were left: the people of the next step are asked as well.',
    CardApprovalEvent,
  ),
}

const request_not_found = notFound('card request')

const lookupFails = { request_not_found } as const satisfies Record<string, RefusalSpec>

const answerFails = {
  request_not_found,
  request_not_waiting: [400, 'The request is no longer pending.'],
  request_expired: [400, 'The request expired without an answer after 72 hours. Make another one.'],
} as const satisfies Record<string, RefusalSpec>

const NO_NUMBER = 'No operation on cards accepts card numbers. Leave it out.'

const limit = (description: string) => moneySchema.nullable().default(null).meta({ description })

const requestedLimits = z.strictObject({
  maxTransactionCents: limit('Maximum amount per payment. Null: not requested.'),
  dailyLimitCents: limit('Maximum amount per UTC day. Null: not requested.'),
  monthlyLimitCents: limit('Maximum amount per calendar month. Null: not requested.'),
})

/** A request that only changes limits refers to an existing card, so it has none of these members. */
const newCardMembers = ['usage', 'displayName', 'controls'] as const

const body = z
  .strictObject({
    type: cardRequestTypeSchema,
    agentId: agentIdSchema,
    cardId: id('card').optional().meta({ description: 'The card whose limits to change.' }),
    usage: cardUsageSchema.optional(),
    displayName: cardDisplayName.optional().meta({ description: 'Defaults to the agent’s name.' }),
    limits: requestedLimits.prefault({}).meta({
      description: 'For `limit_change`: only the limits to change. The others stay.',
    }),
    controls: CardControlsBody.optional(),
    reason: freeTextSchema.min(1).meta({ examples: ['Papers for the literature review'] }),
  })
  .superRefine((request, context) => {
    const addIssue = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    if (request.type === 'new_card') {
      if (request.cardId !== undefined) addIssue('cardId', 'a new card has none yet: leave it out')
      return
    }
    if (request.cardId === undefined) addIssue('cardId', 'name the card whose limits to change')
    if (cardLimitNames.every(name => request.limits[name] === null))
      addIssue('limits', 'set at least one limit to change')
    for (const name of newCardMembers)
      if (request[name] !== undefined) addIssue(name, 'only for a new card: leave it out')
  })

const approvedLimit = (description: string) => moneySchema.nullable().optional().meta({ description })

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'card-requests:read' })
const requesters = operationsFor({ callers: ['key', 'agent'], scope: 'card-requests:write' })
const approvers = operationsFor({ callers: ['key'], scope: 'card-requests:approve' })

export const cardRequestsApi = {
  create: requesters.post('/card-requests', {
    summary: 'Request a card, or a change of a card’s limits',
    description: [
      '`new_card` requests a card for the agent, `limit_change` other limits for one of its cards. A person answers within 72 hours: `approve`, perhaps with lower limits, or `deny`. Nothing changes until then.',
      `A durable process carries out the approval: \`issued\` once the processor has issued the card, \`changed\` once the limits have changed, \`failed\` if that is no longer possible. \`card_limit_request.updated\` reports each state. An agent has at most ${MAX_PENDING_CARD_REQUESTS} pending requests.`,
    ].join('\n\n'),
    body: refuseCardNumbers(body, NO_NUMBER),
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
      agent_required: agentRequiredRefusal,
      agent_not_found: notFound('agent'),
      agent_not_active: [400, 'The agent is frozen or being deleted: it cannot make requests.'],
      card_not_found: [404, 'cardId: the agent has no such card.'],
      card_closed: [400, 'cardId: the card is closed. Request a new one.'],
      card_pending: [400, 'cardId: the processor has not issued the card yet. Wait until it has.'],
      no_change: [400, 'limits: the card already has these limits.'],
      too_many_pending: [
        400,
        `The agent has ${MAX_PENDING_CARD_REQUESTS} pending requests. Wait for an answer, or cancel one of them.`,
      ],
    },
    emits: cardRequestEvents,
  }),
  list: readers.list('/card-requests', {
    summary: 'List card requests',
    description: 'Newest first.',
    filters: {
      status: status.optional(),
      type: cardRequestTypeSchema.optional(),
      agentId: id('agent').optional(),
      cardId: id('card').optional(),
      ...timeRangeMembers,
    },
    item: CardRequestRecord,
  }),
  get: readers.getOne('/card-requests/{id}', 'a card request', CardRequestRecord, lookupFails),
  approve: approvers.post('/card-requests/{id}/approve', {
    summary: 'Approve a card request',
    description: [
      'An approver may lower requested limits, and may add others. Limits cannot be raised or dropped here: set the limits of the card instead, once it is issued. The answer is `approved`; the process carries it out immediately.',
      'If the highest requested limit exceeds a step of the agent’s policy, or no limit is requested, several people approve: each with a passkey, also with a key. The first may lower limits, and the others approve the same ones. The answer is `pending` until the last of them, and `approval` says who is asked.',
    ].join('\n\n'),
    requires: 'cardProcessor',
    body: refuseCardNumbers(
      z.strictObject({
        limits: z
          .strictObject({
            maxTransactionCents: approvedLimit('At most the requested limit, which is also the default.'),
            dailyLimitCents: approvedLimit('At most the requested limit, which is also the default.'),
            monthlyLimitCents: approvedLimit('At most the requested limit, which is also the default.'),
          })
          .prefault({}),
        comment: freeTextSchema.nullable().default(null),
        ...wideningBySeveral.members,
      }),
      NO_NUMBER,
    ),
    example: {
      limits: { maxTransactionEuros: 25, dailyLimitEuros: 50, monthlyLimitEuros: 100 },
      comment: 'For a start',
    },
    returns: [200, CardRequestRecord],
    signature: widening.signature,
    fails: {
      ...widening.fails,
      ...wideningBySeveral.fails,
      ...approverRefusals,
      ...answerFails,
      agent_not_active: [400, 'The agent is frozen or being deleted. Deny the request.'],
      card_closed: [400, 'The card is closed. Deny the request.'],
      limit_not_lowered: [400, 'limits: an approver may lower a limit, but not raise or drop it.'],
      limits_differ: [
        400,
        'limits: the others have approved other limits. Leave them out, or deny the request.',
      ],
    },
    emits: { ...widening.emits, ...cardRequestEvents, ...approvalEvents },
  }),
  deny: approvers.post('/card-requests/{id}/deny', {
    summary: 'Deny a card request',
    body: refuseCardNumbers(z.strictObject({ reason: freeTextSchema.min(1) }), NO_NUMBER),
    example: { reason: 'One card is enough' },
    returns: [200, CardRequestRecord],
    fails: answerFails,
    emits: cardRequestEvents,
  }),
  cancel: requesters.post('/card-requests/{id}/cancel', {
    summary: 'Cancel a card request',
    description: 'Only a pending request can be cancelled.',
    body: refuseCardNumbers(z.strictObject({ comment: freeTextSchema.nullable().default(null) }), NO_NUMBER),
    example: { comment: 'No longer needed' },
    returns: [200, CardRequestRecord],
    fails: answerFails,
    emits: cardRequestEvents,
  }),
}

export const cardRequestSteps = {
  /** Changes nothing before the deadline, by the tenant's clock. */
  expire: step('cardRequests.expire', { summary: 'Expire a card request', emits: cardRequestEvents }),
  /** Does nothing before the reminder is due. */
  remind: step('cardRequests.remind', {
    summary: 'Remind the people who are asked to approve a card request',
    emits: {
      'card_limit_request.approval_reminder': declareEvent(
        'A card request still waits for approvals: at half of the time of the step, an hour before its end, and once people are asked anew: the policy’s steps or who approves have changed, or the agent was unfrozen.',
        CardApprovalEvent,
      ),
    },
  }),
  /** Does nothing while the step has time and enough people. */
  endStep: step('cardRequests.endStep', {
    summary: 'End a step of the approval that was not complete in time: ask the next people, or deny',
    emits: {
      ...cardRequestEvents,
      'card_limit_request.approval_escalated': CardApprovalEvent,
      'card_limit_request.approval_reminder': CardApprovalEvent,
    },
  }),
  carryOut: step('cardRequests.carryOut', {
    summary: 'Carry out an approved request: issue the card, or change its limits',
    emits: {
      ...cardRequestEvents,
      'card.created': cardEvents['card.created'],
      'card.limits_changed': cardEvents['card.limits_changed'],
    },
  }),
}

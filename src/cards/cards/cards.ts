import { CardTerms } from '../../control/card-terms/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { externalCall, implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { cardsApi } from './api.ts'
import { Card, CardNumber, cardEvent, cardMachine, cardsPersonal, numberMachine } from './card.ts'
import { cardControls, changeLimits } from './controls.ts'
import { issueCardWithCall, issueStep, recordIssued } from './issue.ts'
import { lockCard } from './lock-card.ts'
import { cardProcess } from './process.ts'
import { callOf, holderOf, newCardOf, numberRequestFor } from './processor-calls.ts'
import { fund, returnStep } from './purse.ts'
import { cardReactions, deletionStep } from './reactions.ts'
import { cardResponse, cardResponses, storedCardResponse } from './response.ts'
import { replaceStep, rotate } from './rotate.ts'
import { activate, close, endStep, freeze, unfreeze } from './states.ts'
import { status } from './status.ts'
import { stepsApi } from './steps-api.ts'
import { noticeEvents, syncStep } from './sync-processor.ts'

const cardHandlers = implement(cardsApi, {
  create: externalCall(cardsApi.create, {
    async reserve({ body }, context) {
      const { displayName, ...members } = body
      const reserved = await issueCardWithCall({ ...members, displayName }, context)
      if (typeof reserved === 'string') return context.refuse(reserved)
      const { card, terms } = reserved
      const asked = { reference: card.id, requestedAt: card.createdAt }
      return numberRequestFor(card, terms, await holderOf(context), asked, context)
    },
    call: (request, { ports, requestId }) =>
      ports
        .cardProcessor(request.mode)
        .issue(newCardOf(request), callOf(request, request.reference, { requestId })),
    async record(answer, request, context) {
      const locked = await recordIssued(answer, request, context)
      const { closedReason, processorProblem } = locked.card
      if (closedReason === 'processor_refused')
        return context.refuse('processor_refused', `The processor does not issue it: ${processorProblem}`)
      return cardResponse(locked, context)
    },
    // The process goes on: the processor is asked by the same reference, and there is one card.
    async recover({ cardId }, context) {
      return storedCardResponse(await context.records.findOneOrFail(Card, { id: cardId }), context)
    },
  }),

  async list({ query: { from, to, status: wanted, agentId, intentId } }, context) {
    const { records, pageBy } = context
    const created = await createdWithin('card', { from, to }, context)
    const condition = definedOnly({ ...created, status: wanted, agentId, intentId })
    // Controls can be long: a page is as long as they allow.
    return pageBy(async (after, most) => {
      const rest = after === undefined ? {} : { id: { $lt: after } }
      const cards = await records.find(
        Card,
        { $and: [condition, rest] },
        { orderBy: { id: 'desc' }, limit: most },
      )
      return cardResponses(cards, context)
    })
  },

  async get({ params }, context) {
    const card = await context.records.findOne(Card, { id: params.id })
    return card ? storedCardResponse(card, context) : context.refuse('card_not_found')
  },

  async update({ params, body }, context) {
    const { emit, refuse } = context
    const locked = await lockCard(params.id, context)
    if (!locked) return refuse('card_not_found')
    const { card } = locked
    if (card.status === 'closed') return refuse('card_closed')
    // The processor is asked for the card with the same words until it has answered.
    if (card.status === 'pending' && body.displayName !== undefined) return refuse('card_pending')
    Object.assign(card, definedOnly(body))
    emit('card.details_changed', cardEvent(card))
    return cardResponse(locked, context)
  },

  activate,
  freeze,
  unfreeze,
  close,
  rotate,
  setLimits: changeLimits,
  fund,
})

const cardSteps = implement(stepsApi, {
  status,
  issue: issueStep,
  replace: replaceStep,
  tell: syncStep,
  end: endStep,
  returnPurse: returnStep,
  endForAgent: deletionStep,
})

/** Process, sweep and test clock share one instant. What needs no processor comes first: it may not be configured any more. */
const cardsDue: Deadline = {
  process: cardProcess,
  table: 'cards',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: 'due_at is not null',
  waits: 'true',
  operations: ['cards.returnPurse', 'cards.end', 'cards.issue', 'cards.replace', 'cards.tell'],
}

export const cardsArea = area(
  'Cards',
  'Virtual cards of agents: issued, frozen, closed, given another number; their limits, controls and purses.',
  implement({ ...cardsApi, ...stepsApi }, { ...cardHandlers.handlers, ...cardSteps.handlers }),
  {
    personal: cardsPersonal,
    entities: [CardTerms, Card, CardNumber],
    announces: noticeEvents,
    machines: [cardMachine, numberMachine],
    reactions: cardReactions,
    deadlines: [cardsDue],
    openRecords: [
      {
        process: cardProcess,
        select: 'select id, owner_id, mode, agent_id from cards where due_at is not null',
      },
    ],
  },
)

export const cardControlsArea = area(
  'Card Controls',
  'The merchants, countries and categories that a card may pay, beside the policy of its agent.',
  cardControls,
)

import { findAgent } from '../../control/agents/index.ts'
import { CardTerms, type cardStatuses } from '../../control/card-terms/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, externalCall } from '../../kernel/contract/operation.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { formatMinute } from '../../values/minute.ts'
import { cardSteps, cardsApi } from './api.ts'
import { Card, CardNumber, cardClosedReasons, cardEvent, cardMachine, cardNumberMachine } from './card.ts'
import { cardResponse, cardResponses, lockCard, storedCardResponse } from './card-with-terms.ts'
import { cardControlHandlers, changeCardLimits } from './controls.ts'
import { nextCardStep } from './due.ts'
import { cardIssueRequest, issueCardWithCall, recordIssuedCard, requestCardIssue } from './issue.ts'
import { type CardSignal, cardProcess } from './process.ts'
import { fundCard, pursesOfAgent } from './purse.ts'
import { cardReactions } from './reactions.ts'
import { rotateCardNumber } from './rotate.ts'
import { activateCard, closeCardOperation, freezeCardOperation, unfreezeCard } from './states.ts'
import { cardNoticeEvents } from './sync-processor.ts'
import { wideningsOfNewCard } from './widening.ts'

/** Operators see this, and Temporal stores it, so it contains no names and no digits. */
function summaryOf({ usage, mode, status, closedReason, processorProblem }: Card): string {
  const head = `Card for ${usage} use in ${mode} mode: ${status}`
  if (processorProblem && status !== 'closed') return `${head}, with a problem at the processor`
  const reason = cardClosedReasons.find(known => known === closedReason)
  return reason ? `${head} (${reason.replaceAll('_', ' ')})` : head
}

const SIGNALS: Readonly<Record<(typeof cardStatuses)[number], CardSignal[]>> = {
  pending: ['close'],
  inactive: ['close'],
  active: ['freeze', 'close'],
  frozen: ['unfreeze', 'close'],
  closed: [],
}

/** What the run of a card reads. */
export async function cardStatus(id: string, { em, now }: ReadContext) {
  const [card, terms, numbers] = await Promise.all([
    em.findOne(Card, { id }),
    em.findOne(CardTerms, { id }),
    em.find(CardNumber, { cardId: id }),
  ])
  if (!card || !terms) return undefined
  const status: keyof typeof SIGNALS = card.status
  const next = nextCardStep({ card, terms, numbers }, now)
  return {
    status,
    summary: summaryOf(card),
    closed: next === null,
    next: next?.step ?? null,
    dueInMs: next && next.at.getTime() - now.getTime(),
    deadline: next && next.at > now ? formatMinute(next.at) : null,
    signals: next ? SIGNALS[status] : [],
  }
}

const cards = bindHandlers(cardsApi, {
  create: externalCall(cardsApi.create, {
    async reserve({ body }, context) {
      const { displayName, webauthnAssertion, ...members } = body
      const unsigned = await refuseUnsignedWidening(
        webauthnAssertion,
        async () => {
          const agent = await findAgent(context.em, body.agentId)
          // A card for an intent pays only what a person or the policy has approved.
          return agent && body.intentId === null ? wideningsOfNewCard(agent, body) : []
        },
        context,
      )
      if (unsigned) return unsigned
      const reserved = await issueCardWithCall({ ...members, displayName }, context)
      return typeof reserved === 'string' ? context.refuse(reserved) : cardIssueRequest(reserved, context)
    },
    call: (request, { systems }) => requestCardIssue(request, systems.cardProcessor(request.mode)),
    async record(answer, request, context) {
      const locked = await recordIssuedCard(answer, request, context)
      const { closedReason, processorProblem } = locked.card
      if (closedReason === 'processor_refused')
        return context.refuse('processor_refused', `The processor refused to issue it: ${processorProblem}`)
      return cardResponse(locked, context)
    },
    // The process continues, and asks the processor with the same reference, so there is one card.
    async recover({ cardId }, context) {
      return storedCardResponse(await context.em.findOneOrFail(Card, { id: cardId }), context)
    },
  }),

  async list({ query: { from, to, status: wanted, agentId, intentId } }, context) {
    const { em, pageBy } = context
    const created = await createdWithinCondition('card', { from, to }, context)
    const condition = definedOnly({ ...created, status: wanted, agentId, intentId })
    // Controls can be long, so the page ends when its size is reached.
    return pageBy(async (after, most) => {
      const rest = after === undefined ? {} : { id: inRange({ lt: after }) }
      const cards = await em.find(Card, { $and: [condition, rest] }, { orderBy: { id: 'desc' }, limit: most })
      return cardResponses(cards, context)
    })
  },

  get: getRecordAs(Card, 'card_not_found', storedCardResponse),

  async update({ params, body }, context) {
    const { emit, refuse } = context
    const locked = await lockCard(params.id, context)
    if (!locked) return refuse('card_not_found')
    const { card } = locked
    if (card.status === 'closed') return refuse('card_closed')
    // The request for the card must stay the same until the processor has answered.
    if (card.status === 'pending' && body.displayName !== undefined) return refuse('card_pending')
    Object.assign(card, definedOnly(body))
    emit('card.details_changed', cardEvent(card))
    return cardResponse(locked, context)
  },

  activate: activateCard,
  freeze: freezeCardOperation,
  unfreeze: unfreezeCard,
  close: closeCardOperation,
  rotate: rotateCardNumber,
  setLimits: changeCardLimits,
  fund: fundCard,
})

/**
 * Process, sweep and test clock share one instant. Steps without a processor come first: it may no longer be
 * configured.
 */
const cardsDue: Deadline = {
  process: cardProcess,
  table: 'cards',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: 'due_at is not null',
  waits: 'true',
  activities: ['endCard', 'returnPurse', 'issueCard', 'replaceNumber', 'tellProcessor'],
}

export const cardsArea = area(
  'Cards',
  'Virtual cards of agents: issuing, freezing, closing, rotation; their limits, controls and purses.',
  cards,
  {
    steps: cardSteps,
    entities: [CardTerms, Card, CardNumber],
    announces: cardNoticeEvents,
    machines: [cardMachine, cardNumberMachine],
    reactions: cardReactions,
    answers: [pursesOfAgent],
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
  'The merchants, countries and categories that a card may pay, in addition to the policy of its agent.',
  cardControlHandlers,
)

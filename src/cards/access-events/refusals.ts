import type { Failure } from '../../kernel/contract/operation.ts'
import { recipientRefusals } from '../filler-keys/index.ts'

/** Refusals because of the intent and the card, also where no data is asked for yet. */
export const subjectRefusals = {
  intent_not_found: [404, 'intentId: the agent has no such intent.'],
  card_required: [
    400,
    'cardId: name the card. The agent has no active card, or more than one. GET /cards lists them, POST /cards issues one.',
  ],
  card_not_found: [404, 'cardId: the agent has no such card.'],
  intent_not_approved: [
    400,
    'intentId: only an approved intent that is not paid yet can be paid, or opens a card.',
  ],
  intent_being_paid: [400, 'intentId: a payment on it is under way. GET /intents/{id} tells how it stands.'],
  intent_expired: [400, 'intentId: its deadline has passed. Declare it again.'],
  intent_not_by_card: [400, 'intentId: its payee is paid by a transfer, not by a card.'],
  intent_other_agent: [400, 'intentId: the intent is of another agent than the card.'],
  intent_other_card: [400, 'intentId: the intent names another card.'],
  card_other_intent: [400, 'The card is good for another intent only.'],
  card_not_active: [400, 'The card is not active.'],
  agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
} as const satisfies Record<string, Failure>

/** Refusals because the processor has not given the data. */
export const processorRefusals = {
  processor_silent: [
    504,
    'The processor did not answer in time. Nothing was disclosed: ask again, with a new Idempotency-Key.',
  ],
  processor_unusable: [
    502,
    'The answer of the processor cannot be used. Nothing was disclosed: ask again, with a new Idempotency-Key.',
  ],
  processor_refused: [502, 'The processor refuses to disclose the card.'],
  disclosure_lost: [
    503,
    'The answer of the processor was lost. Nothing was disclosed: ask again, with a new Idempotency-Key.',
  ],
} as const satisfies Record<string, Failure>

/** Refusals of every ask for data. */
export const accessRefusals = {
  ...subjectRefusals,
  ...recipientRefusals,
  ...processorRefusals,
} as const satisfies Record<string, Failure>

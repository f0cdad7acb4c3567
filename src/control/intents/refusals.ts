import { assertionRefusals } from '../../identity/passkeys/index.ts'
import { agent_required, type Failure, missing } from '../../kernel/contract/operation.ts'

const intent_not_found = missing('intent')
const intent_expired: Failure = [400, 'The deadline of the intent has passed. Declare it again.']

export const lookupRefusals = { intent_not_found }

const { assertion_required: _, ...signatureRefusals } = assertionRefusals

/** Refusals of a signature that is sent along. Where none is, `attestation_required` says so. */
export { signatureRefusals }

export const decisionRefusals = {
  intent_not_found,
  intent_not_waiting: [400, 'The intent does not wait for a decision any more.'],
  intent_expired,
} as const satisfies Record<string, Failure>

export const cancelRefusals = {
  intent_not_found,
  intent_closed: [400, 'The intent has ended already.'],
  intent_expired,
  intent_being_paid: [400, 'A payment on it is under way. Cancel that payment first.'],
} as const satisfies Record<string, Failure>

export const payee_mismatch: Failure = [
  400,
  'merchant or country: the record of the payee says otherwise. Leave it out.',
]

/** Refusals of the payment request that a request names as the payee. */
export const requestRefusals = {
  request_not_found: [404, 'requestId: no such payment request.'],
  request_not_open: [400, 'requestId: the request is paid or has ended, and cannot be paid.'],
  request_other_amount: [400, 'amountEuros: it must be what is missing for the request.'],
} as const satisfies Record<string, Failure>

/** Refusals at a run, a delegation or a card that has ended. */
export const levelRefusals = {
  run_over: [400, 'The run has ended: nothing more is spent in it. Start another one.'],
  delegation_over: [400, 'The delegation is revoked or has expired: nothing more is spent under it.'],
  card_closed: [400, 'cardId: the card is closed and pays nothing more. Name another one, or none.'],
  card_of_other_intent: [400, 'cardId: the card was issued for another intent, and pays that one alone.'],
} as const satisfies Record<string, Failure>

/** Refusals of the run and the card that a request names. */
export const runRefusals = {
  card_not_found: [404, 'cardId: the agent has no such card.'],
  run_not_found: [404, 'runId: the agent has no such run.'],
  run_mismatch: [400, 'runId: the header X-Run-Id names another run. Name one.'],
} as const satisfies Record<string, Failure>

/** Refusals of every declaration, whatever its payee. */
export const declareRefusals = {
  agent_required,
  agent_not_found: missing('agent'),
  agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
  ...runRefusals,
  ...levelRefusals,
} as const satisfies Record<string, Failure>

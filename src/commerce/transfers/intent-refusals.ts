import type { Failure } from '../../kernel/contract/operation.ts'

/** Refusals of a transfer because of the intent that it pays. */
export const intentRefusals = {
  intent_required: [400, 'intentId: an agent pays on an approved intent of its own.'],
  intent_not_found: [404, 'intentId: no such intent.'],
  intent_not_approved: [400, 'intentId: only an approved intent can be paid, and once.'],
  intent_being_paid: [400, 'intentId: a payment on it is under way already.'],
  intent_expired: [400, 'intentId: its deadline has passed. Declare it again.'],
  agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
  intent_other_merchant: [
    400,
    'intentId: the agent pays only the merchant that it has paid first, and the intent is for another one. Cancel the intent, or switch lockToFirstMerchant off.',
  ],
  intent_other_wallet: [400, 'fromWalletId: an intent is paid from its agent’s own wallet.'],
  intent_other_payee: [
    400,
    'The intent is for another payee: its walletId or beneficiaryId must be the same.',
  ],
  token_budget_exceeded: [400, 'amountEuros: it is more than is left of the budget of the token.'],
  intent_payee_changed: [
    400,
    'intentId: its payee has another name or IBAN than when it was declared. Cancel the intent and declare it again.',
  ],
  intent_amount_exceeded: [400, 'amountEuros: it is more than is held for the intent.'],
} as const satisfies Record<string, Failure>

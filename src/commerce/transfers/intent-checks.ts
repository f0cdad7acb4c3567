import type { TokenBudgets } from '../../control/agent-tokens/index.ts'
import {
  aboveHeldMessage,
  type IntentRow,
  isApprovedPayee,
  type Payments,
} from '../../control/intents/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { reaches } from '../../kernel/database/entity.ts'
import type { PayeeRow } from '../../money/beneficiaries/index.ts'
import type { Book } from '../../money/ledger/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import type { transfersApi } from './api.ts'

export type CreateHandler = HandlerOf<typeof transfersApi.create>
export type TransferRequest = Parameters<CreateHandler['decide']>[0]
export type DecideContext = Parameters<CreateHandler['decide']>[2]

interface KnownState {
  readonly book: Book
  readonly payments: Payments
  readonly tokenBudgets: TokenBudgets
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly sepa: { readonly payees: ReadonlyMap<string, PayeeRow> } | undefined
}

/** The token whose budget pays; null if it has none, or if the intent was declared with it and so has reserved it. */
export const budgetTokenFor = (
  { budgetId }: TransferRequest['actor'],
  { tokenId }: IntentRow,
): string | null => (budgetId && budgetId !== tokenId ? budgetId : null)

const aboveBudget = (amount: Euros, left: Euros): string =>
  `amountEuros: ${formatEuros(amount)} are asked for, ${formatEuros(left > 0n ? left : 0n)} are left of the budget of the token.`

/** The refusal of a transfer because of its intent: one that it names, or that an agent fails to name. */
export function intentRefusal(
  { input: { body }, actor }: TransferRequest,
  { book, payments, tokenBudgets, wallets, sepa }: KnownState,
  { refuse }: DecideContext,
): Refusal | undefined {
  const { intentId, fromWalletId, toWalletId, beneficiaryId, amountEuros } = body
  if (intentId === undefined) return actor.agentId ? refuse('intent_required') : undefined
  const intent = payments.find(intentId)
  if (!intent || !reaches(actor, intent)) return refuse('intent_not_found')
  const blocker = payments.blockerOf(intent)
  if (blocker) return refuse(blocker)
  if (payments.walletFor(intent) !== fromWalletId) return refuse('intent_other_wallet')
  const isSamePayee =
    intent.walletId === (toWalletId ?? null) && intent.beneficiaryId === (beneficiaryId ?? null)
  if (!isSamePayee) return refuse('intent_other_payee')
  const payee =
    beneficiaryId === undefined ? wallets.get(String(toWalletId)) : sepa?.payees.get(beneficiaryId)
  if (payee && !isApprovedPayee(intent, payee)) return refuse('intent_payee_changed')
  const held = book.heldFor({ type: 'intent', id: intent.id })
  if (amountEuros > held) return refuse('intent_amount_exceeded', aboveHeldMessage(amountEuros, held))
  const token = budgetTokenFor(actor, intent)
  const left = token === null ? amountEuros : tokenBudgets.leftOf(token)
  return left < amountEuros ? refuse('token_budget_exceeded', aboveBudget(amountEuros, left)) : undefined
}

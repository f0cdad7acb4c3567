import type { Purse } from '../../control/agent-tokens/index.ts'
import { aboveHeld, type IntentRow, isApprovedPayee, type Payments } from '../../control/intents/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { reaches } from '../../kernel/database/entity.ts'
import type { PayeeRow } from '../../money/beneficiaries/index.ts'
import type { Book } from '../../money/ledger/index.ts'
import type { WalletRow as WalletKnown } from '../../money/wallets/index.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import type { transfersApi } from './api.ts'

export type Create = HandlerOf<typeof transfersApi.create>
export type Asked = Parameters<Create['decide']>[0]
export type Verdict = Parameters<Create['decide']>[2]

interface Known {
  readonly book: Book
  readonly payments: Payments
  readonly purse: Purse
  readonly wallets: ReadonlyMap<string, WalletKnown>
  readonly exit: { readonly payees: ReadonlyMap<string, PayeeRow> } | undefined
}

/** The token out of whose budget this is paid; null where it has none, or was reserved of it when it was declared. */
export const tokenOf = ({ budgetId }: Asked['actor'], { tokenId }: IntentRow): string | null =>
  budgetId && budgetId !== tokenId ? budgetId : null

const beyond = (amount: Euros, left: Euros): string =>
  `amountEuros: ${formatEuros(amount)} are asked for, ${formatEuros(left > 0n ? left : 0n)} are left of the budget of the token.`

/** Why a transfer cannot be paid on the intent that it names, or that it must name; undefined where it can. */
export function hindrance(
  { input: { body }, actor }: Asked,
  { book, payments, purse, wallets, exit }: Known,
  { refuse }: Verdict,
): Refusal | undefined {
  const { intentId, fromWalletId, toWalletId, beneficiaryId, amountEuros } = body
  if (intentId === undefined) return actor.agentId ? refuse('intent_required') : undefined
  const intent = payments.find(intentId)
  if (!intent || !reaches(actor, intent)) return refuse('intent_not_found')
  const why = payments.hindrance(intent)
  if (why) return refuse(why)
  if (payments.walletFor(intent) !== fromWalletId) return refuse('intent_other_wallet')
  const [wallet, beneficiary] = [toWalletId ?? null, beneficiaryId ?? null]
  if (intent.walletId !== wallet || intent.beneficiaryId !== beneficiary) return refuse('intent_other_payee')
  const payee = beneficiary === null ? wallets.get(String(wallet)) : exit?.payees.get(beneficiary)
  if (payee && !isApprovedPayee(intent, payee)) return refuse('intent_payee_changed')
  const held = book.heldFor({ type: 'intent', id: intent.id })
  if (amountEuros > held) return refuse('intent_amount_exceeded', aboveHeld(amountEuros, held))
  const token = tokenOf(actor, intent)
  const left = token === null ? amountEuros : purse.leftOf(token)
  return left < amountEuros ? refuse('token_budget_exceeded', beyond(amountEuros, left)) : undefined
}

import type { RemainingTokenBudgets } from '../../control/agent-tokens/index.ts'
import {
  aboveHeldAmountMessage,
  type IntentPayments,
  type IntentRow,
  isApprovedPayee,
} from '../../control/intents/index.ts'
import type { AskingPolicy } from '../../control/policies/index.ts'
import type { DecideContext } from '../../kernel/contract/context.ts'
import type { BatchItem, HotHandler } from '../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { mayReachRecord, mayUseRecord } from '../../kernel/database/entity.ts'
import type { BeneficiaryRow } from '../../money/beneficiaries/index.ts'
import type { LockedBook } from '../../money/ledger/index.ts'
import type { PayableReference } from '../../money/references/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import { quoted } from '../../statements/index.ts'
import { atLeastZero, type Cents, formatMoney } from '../../values/money.ts'
import type { transferRefusals, transfersApi } from './api.ts'
import type { completedTransferEvents, internalPaymentEvents } from './schemas.ts'

export type CreateTransferHandler = HandlerOf<typeof transfersApi.create>
type CreateInput = Parameters<CreateTransferHandler['decide']>[0]['input']

/** The payee of an intent on a payment request or payment token: the holder of a wallet, possibly of another owner. */
export interface InternalPayee extends Pick<IntentRow, 'requestId' | 'paymentTokenId'> {
  readonly ownerId: string
  readonly walletId: string
  readonly name: string
  readonly iban: string | null
  readonly payable: PayableReference
}

export type TransferRequest = BatchItem<
  Omit<CreateInput, 'body'> & { readonly body: CreateInput['body'] & { readonly payee?: InternalPayee } }
>
type PayCode = keyof typeof transferRefusals
export type TransferDecideContext = DecideContext<PayCode, typeof completedTransferEvents>

export type InternalPaymentContext = DecideContext<PayCode, typeof internalPaymentEvents>

export type TransferHandler<State> =
  CreateTransferHandler extends HotHandler<infer _I, infer R, infer _F, infer _E>
    ? HotHandler<TransferRequest['input'], R, PayCode, typeof internalPaymentEvents, State>
    : never

interface KnownState {
  readonly book: LockedBook
  readonly payments: IntentPayments
  readonly tokenBudgets: RemainingTokenBudgets
  readonly wallets: ReadonlyMap<string, WalletRow>
  /** Read only where others are paid without an intent. */
  readonly asking: AskingPolicy | undefined
  readonly sepa: { readonly payees: ReadonlyMap<string, BeneficiaryRow> } | undefined
}

const isDeclaredPayee = (
  intent: IntentRow,
  { payee, toWalletId, beneficiaryId }: TransferRequest['input']['body'],
): boolean =>
  payee
    ? intent.requestId === payee.requestId && intent.paymentTokenId === payee.paymentTokenId
    : intent.walletId === (toWalletId ?? null) && intent.beneficiaryId === (beneficiaryId ?? null)

/**
 * The token whose budget pays; null if there is none, or if the token reserved the amount when it declared
 * the intent.
 */
const budgetTokenFor = ({ budgetId }: TransferRequest['actor'], { tokenId }: IntentRow): string | null =>
  budgetId && budgetId !== tokenId ? budgetId : null

export function chargeTokenBudget(
  { input, actor }: TransferRequest,
  intent: IntentRow | undefined,
  { tokenBudgets }: Pick<KnownState, 'tokenBudgets'>,
): string | null {
  const token = intent ? budgetTokenFor(actor, intent) : null
  if (token) tokenBudgets.charge(token, input.body.amountCents)
  return token
}

const aboveBudget = (amount: Cents, left: Cents): string =>
  `amountEuros: ${formatMoney(amount)} exceeds the ${formatMoney(atLeastZero(left))} left of the token’s budget.`

/** Whether the money leaves the owner, and no intent has been approved for it. */
export const paysOthersWithoutIntent = ({
  beneficiaryId,
  intentId,
}: TransferRequest['input']['body']): boolean => beneficiaryId !== undefined && intentId === undefined

const asksPeople = ({ id, name, agentId, aboveCents }: AskingPolicy): string =>
  `amountEuros: the policy ${quoted(name)} (${id}) asks people for payments to others above ${formatMoney(aboveCents)}, from every wallet. Declare an intent of ${agentId}, which pays from its own wallet, have it approved, and pay on it.`

/** The steps of every policy in force hold where money leaves the owner, from whichever wallet, also with a key. */
function withoutIntentRefusal(
  { input: { body }, actor }: TransferRequest,
  { asking }: KnownState,
  { refuse }: TransferDecideContext,
): Refusal | undefined {
  if (actor.agentId) return refuse('intent_required')
  return asking && paysOthersWithoutIntent(body) && body.amountCents > asking.aboveCents
    ? refuse('approval_needed', asksPeople(asking))
    : undefined
}

export function intentTransferRefusal(
  request: TransferRequest,
  state: KnownState,
  context: TransferDecideContext,
): Refusal | undefined {
  const { input, actor } = request
  const { book, payments, tokenBudgets, wallets, sepa } = state
  const { refuse } = context
  const { body } = input
  const { intentId, fromWalletId, toWalletId, beneficiaryId, amountCents } = body
  if (intentId === undefined) return withoutIntentRefusal(request, state, context)
  const intent = payments.find(intentId)
  if (!intent || !mayReachRecord(actor, intent)) return refuse('intent_not_found')
  if (!mayUseRecord(actor, intent)) return refuse('intent_other_token')
  const blocker = payments.blockerOf(intent)
  if (blocker) return refuse(blocker)
  if (payments.walletFor(intent) !== fromWalletId) return refuse('intent_other_wallet')
  if (!isDeclaredPayee(intent, body)) return refuse('intent_other_payee')
  const ownPayee =
    beneficiaryId === undefined ? wallets.get(String(toWalletId)) : sepa?.payees.get(beneficiaryId)
  // A payment token is bound to its wallet, so a later change of the holder's name has no effect.
  const payee = body.payee?.paymentTokenId ? undefined : (body.payee ?? ownPayee)
  if (payee && !isApprovedPayee(intent, payee)) return refuse('intent_payee_changed')
  const held = book.heldFor({ type: 'intent', id: intent.id })
  if (amountCents > held) return refuse('intent_amount_exceeded', aboveHeldAmountMessage(amountCents, held))
  const token = budgetTokenFor(actor, intent)
  const left = token === null ? amountCents : tokenBudgets.leftOf(token)
  return left < amountCents ? refuse('token_budget_exceeded', aboveBudget(amountCents, left)) : undefined
}

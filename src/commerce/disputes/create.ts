import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { freezeCard, lockCard } from '../../cards/cards/index.ts'
import { Agent } from '../../control/agents/index.ts'
import { findIntent } from '../../control/intents/index.ts'
import type { ContextOf, HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { refundableOf, refundedOnRequest } from '../../money/refunds/index.ts'
import { Transaction, underDelegation } from '../../money/transactions/index.ts'
import { mainWallet } from '../../money/wallets/index.ts'
import { after } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, cents, formatEuros, restOf } from '../../values/money.ts'
import type { disputesApi } from './api.ts'
import { Dispute, disputableUntil, EVIDENCE_MS, REMINDER_MS, UNDECIDED_STATES } from './dispute.ts'
import { disputeEvent } from './events.ts'
import { disputeProcess } from './process.ts'
import { type LockedDispute, openAccounts, reconcile } from './reconcile-dispute.ts'
import { planCredit } from './schedule.ts'

type Creating = ContextOf<typeof disputesApi.create>
type Body = InputOf<typeof disputesApi.create>['body']

const agentOf = ({ ownerId, mode }: Creating['tenant'], transactionId: string) =>
  sqlCondition('id = (select t.agent_id from transactions t where (t.owner_id, t.mode, t.id) = (?, ?, ?))', [
    ownerId,
    mode,
    transactionId,
  ])

const BY_CARD: ReadonlySet<string> = new Set(['card', 'mpp'])

/** The agent is locked, so that of two disputes of a payment that come at once one is open. */
export const create: HandlerOf<typeof disputesApi.create> = async ({ body }, context) => {
  const { records, sql, tenant, actor, refuse } = context
  const [, known, main, earlier] = await Promise.all([
    records.findOne(Agent, agentOf(tenant, body.transactionId), { lock: true }),
    records.findOne(Transaction, { id: body.transactionId, ...underDelegation(actor) }),
    mainWallet(context),
    records.find(Dispute, { transactionId: body.transactionId }),
  ])
  if (!known) return refuse('transaction_not_found')
  const wallets = { walletId: known.walletId, creditedWalletId: null }
  const [accounts, transaction, payment, intent, onRequest] = await Promise.all([
    openAccounts(wallets, main?.id ?? null, context),
    records.lock(Transaction, known.id),
    records.findOne(CardAuthorization, { transactionId: known.id }),
    known.intentId === null ? null : findIntent(records, known.intentId),
    refundedOnRequest(sql, tenant, known.id),
  ])
  if (!transaction) return refuse('transaction_not_found')
  const left = await refundableOf(transaction, context)
  const problem = blockerOf(transaction, payment, earlier, { left, body }, context)
  if (problem) return problem
  const cardId = payment?.cardId ?? transaction.cardId
  const cardFrozen = body.freezeCard && (await freeze(cardId, context))
  const dispute = newDispute(
    transaction,
    {
      ...body,
      amountEuros: body.amountEuros ?? left,
      refundedBeforeEuros: refundedUnasked(transaction, onRequest),
      delegationId: intent?.delegationId ?? null,
      cardId,
      cardFrozen,
    },
    context,
  )
  // Nothing is decided yet: it gives nothing back in the limits.
  const locked: LockedDispute = {
    ...accounts,
    credits: null,
    transaction,
    dispute,
    refundedOnRequest: onRequest,
  }
  context.emit('dispute.created', disputeEvent(dispute))
  planCredit(dispute, context)
  reconcile(locked, context)
  return dispute
}

function blockerOf(
  transaction: Transaction,
  payment: CardAuthorization | null,
  earlier: readonly Dispute[],
  { left, body }: { readonly left: bigint; readonly body: Body },
  { now, refuse }: Creating,
) {
  if (!BY_CARD.has(transaction.type)) return refuse('ask_it_back')
  if (earlier.some(({ status }) => UNDECIDED_STATES.some(open => open === status)))
    return refuse('dispute_open')
  if (transaction.status === 'refunded') return refuse('nothing_left')
  if (transaction.status !== 'completed') return refuse('not_disputable')
  // What only a checkout or a receipt says may still become less, and comes back by itself where the network never tells of it.
  if (!payment?.clearedEuros) return refuse('not_collected')
  if (earlier.some(({ status }) => status === 'won' || status === 'lost')) return refuse('dispute_decided')
  if (left === 0n) return refuse('nothing_left')
  if ((body.amountEuros ?? left) > left)
    return refuse('amount_too_high', `amountEuros: ${formatEuros(left)} are left of the payment.`)
  return now > disputableUntil(debitedAt(transaction), body.reason) ? refuse('too_late') : undefined
}

/** What had come back by itself. */
const refundedUnasked = ({ refundedEuros }: Transaction, onRequest: Cents): Cents =>
  restOf(cents(refundedEuros), onRequest)

/** The merchant has collected it with the first clearing, if the network has told of one. */
export function debitedAt({ witnesses, createdAt }: Transaction): Date {
  const clearings = witnesses.filter(({ type }) => type === 'card_clearing').map(({ at }) => Date.parse(at))
  return clearings.length > 0 ? new Date(Math.min(...clearings)) : createdAt
}

/** A card that is closed or frozen already pays nothing anyway. */
async function freeze(cardId: string | null, context: Creating): Promise<boolean> {
  const locked = cardId === null ? null : await lockCard(cardId, context)
  return locked !== null && freezeCard(locked, 'A payment by it is disputed.', context)
}

type Asked = Pick<Body, 'reason' | 'description'> &
  Pick<Dispute, 'amountEuros' | 'refundedBeforeEuros' | 'delegationId' | 'cardId' | 'cardFrozen'>

function newDispute(
  transaction: Transaction,
  asked: Asked,
  { records, tenant, now, ports }: Creating,
): Dispute {
  const { agentId, walletId, merchant } = transaction
  const { reason, description, amountEuros, refundedBeforeEuros, delegationId, cardId, cardFrozen } = asked
  const id = newId('dispute')
  const evidenceDueAt = after(now, EVIDENCE_MS)
  return records.create(Dispute, {
    id,
    agentId,
    delegationId,
    transactionId: transaction.id,
    cardId,
    walletId,
    merchant,
    reason,
    description,
    amountEuros,
    cardFrozen,
    refundedBeforeEuros,
    evidenceDueAt,
    remindAt: after(evidenceDueAt, -REMINDER_MS),
    processor: ports.cardProcessor(tenant.mode).name,
    workflowId: workflowIdOf(disputeProcess, id),
  })
}

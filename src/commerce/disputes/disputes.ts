import { z } from 'zod'
import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { Card, freezeCard, lockCard } from '../../cards/cards/index.ts'
import { findIntent, SpendLocks } from '../../control/intents/index.ts'
import { area, type Reaction, reaction, reactionToAll } from '../../kernel/contract/area.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import {
  bindHandlers,
  type ContextOf,
  type HandlerOf,
  type InputOf,
} from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { readCompleteFrom, readTimelineOfRecords, withAuditIds } from '../../kernel/journal/timeline.ts'
import { describePostings, narrativeOfRow } from '../../money/ledger/index.ts'
import {
  findRefundsOfTransaction,
  readRefundableCents,
  sumRequestedRefunds,
} from '../../money/refunds/index.ts'
import { delegationCondition, Transaction } from '../../money/transactions/index.ts'
import { findMainWallet } from '../../money/wallets/index.ts'
import { addMs } from '../../values/clock.ts'
import { id, newId } from '../../values/ids.ts'
import { type Cents, formatMoney, remainderOf } from '../../values/money.ts'
import { disputeEvent, disputeSteps, disputesApi, laterEvents } from './api.ts'
import { downloadDisputeBundle } from './bundle.ts'
import { receiveDisputeNotice, submitDispute } from './call-processor.ts'
import { addDisputeEvidence, recordLiabilityFinding, updateDispute, withdrawDispute } from './change.ts'
import {
  DISPUTE_NEEDS_RUN_SQL,
  Dispute,
  disputeDeadline,
  EVIDENCE_PERIOD_MS,
  EVIDENCE_REMINDER_MS,
  isDisputeUndecided,
  scheduleProvisionalCredit,
  transactionDebitedAt,
} from './dispute.ts'
import { disputeProcess } from './process.ts'
import {
  type DisputeReconcileContext,
  lockDispute,
  openDisputeAccounts,
  reconcileDispute,
  sumEarlierDisputes,
} from './reconcile-dispute.ts'
import { disputeMachine } from './state.ts'

type Creating = ContextOf<typeof disputesApi.create>
type Body = InputOf<typeof disputesApi.create>['body']

const BY_CARD: ReadonlySet<string> = new Set(['card', 'mpp'])

/** Holds the agent's lock, so that of two concurrent disputes of a payment only one opens. */
const create: HandlerOf<typeof disputesApi.create> = async ({ body }, context) => {
  const { em, sql, tenant, now, refuse } = context
  const reachable = await delegationCondition(context)
  // The agent of a payment never changes, so it can be read before it is locked.
  const known = await em.findOne(Transaction, { id: body.transactionId, ...reachable })
  if (!known) return refuse('transaction_not_found')
  const locks = new SpendLocks(sql, context)
  const [, main, earlier] = await Promise.all([
    locks.agents(known.agentId === null ? [] : [known.agentId]),
    findMainWallet(context),
    em.find(Dispute, { transactionId: body.transactionId }),
  ])
  const wallets = { walletId: known.walletId, creditedWalletId: null }
  const id = newId('dispute')
  const [accounts, transaction, payment, intent, onRequest, broughtEarlier] = await Promise.all([
    openDisputeAccounts(wallets, main?.id ?? null, locks),
    em.findOne(Transaction, { id: known.id }, FOR_UPDATE),
    em.findOne(CardAuthorization, { transactionId: known.id }),
    known.intentId === null ? null : findIntent(em, known.intentId),
    sumRequestedRefunds(sql, tenant, known.id),
    sumEarlierDisputes(sql, tenant, { id, transactionId: known.id }),
  ])
  if (!transaction) return refuse('transaction_not_found')
  const left = await readRefundableCents(transaction, context)
  const problem = blockerOf(transaction, payment, earlier, { left, body }, context)
  if (problem) return problem
  const cardId = payment?.cardId ?? transaction.cardId
  const cardFrozen = body.freezeCard && (await freeze(cardId, context))
  // The network has named the card of what was collected. The processor in use can be another one since.
  const { processor } = await em.findOneOrFail(Card, { id: String(cardId) })
  const evidenceDueAt = addMs(now, EVIDENCE_PERIOD_MS)
  const dispute = em.create(Dispute, {
    id,
    agentId: transaction.agentId,
    delegationId: intent?.delegationId ?? null,
    transactionId: transaction.id,
    cardId,
    walletId: transaction.walletId,
    merchant: transaction.merchant,
    reason: body.reason,
    description: body.description,
    amountCents: body.amountCents ?? left,
    cardFrozen,
    refundedBeforeCents: remainderOf(transaction.refundedCents, onRequest),
    evidenceDueAt,
    remindAt: addMs(evidenceDueAt, -EVIDENCE_REMINDER_MS),
    processor,
    workflowId: workflowIdOf(disputeProcess, id),
  })
  context.emit('dispute.created', disputeEvent(dispute))
  scheduleProvisionalCredit(dispute, context)
  reconcileDispute(
    { ...accounts, credits: null, transaction, dispute, refundedOnRequest: onRequest, broughtEarlier },
    context,
  )
  return dispute
}

function blockerOf(
  transaction: Transaction,
  payment: CardAuthorization | null,
  earlier: readonly Dispute[],
  { left, body }: { readonly left: Cents; readonly body: Body },
  { now, refuse }: Creating,
) {
  if (!BY_CARD.has(transaction.type)) return refuse('use_refund')
  if (earlier.some(isDisputeUndecided)) return refuse('dispute_open')
  if (transaction.status === 'refunded') return refuse('nothing_left')
  if (transaction.status !== 'completed') return refuse('not_disputable')
  // An amount known only from a checkout or a receipt may still decrease, and is released if the network
  // never reports it.
  if (!payment?.clearedCents) return refuse('not_collected')
  if (earlier.some(({ status }) => status === 'won' || status === 'lost')) return refuse('dispute_decided')
  if (left === 0n) return refuse('nothing_left')
  if ((body.amountCents ?? left) > left)
    return refuse('amount_too_high', `amountEuros: only ${formatMoney(left)} of the payment is left.`)
  return now > disputeDeadline(transactionDebitedAt(transaction), body.reason)
    ? refuse('too_late')
    : undefined
}

async function freeze(cardId: string | null, context: Creating): Promise<boolean> {
  const locked = cardId === null ? null : await lockCard(cardId, context)
  return locked !== null && freezeCard(locked, 'A payment of the card is disputed.', context)
}

const timeline: HandlerOf<typeof disputesApi.timeline> = async ({ params }, context) => {
  const { sql, tenant, em, pageBy, refuse } = context
  const dispute = await em.findOne(Dispute, { id: params.id })
  if (!dispute) return refuse('dispute_not_found')
  const [ids, completeFrom] = await Promise.all([recordsOf(dispute, em), readCompleteFrom(sql, tenant)])
  const page = await pageBy((after, most) => readTimelineOfRecords(sql, tenant, ids, after, most))
  return withAuditIds({ ...page, completeFrom })
}

async function recordsOf({ id, transactionId }: Dispute, em: EntityReader): Promise<string[]> {
  const [transaction, payment, refunds] = await Promise.all([
    em.findOne(Transaction, { id: transactionId }),
    em.findOne(CardAuthorization, { transactionId }),
    findRefundsOfTransaction(transactionId, em),
  ])
  const ids = [id, transactionId, transaction?.intentId, payment?.id].flatMap(one => one ?? [])
  return [...ids, ...refunds.map(refund => refund.id)]
}

const OfPayment = z.object({ transactionId: id('txn') })

async function reconcileDisputes(
  disputes: readonly Dispute[],
  context: DisputeReconcileContext,
): Promise<void> {
  for (const { id } of disputes) {
    const locked = await lockDispute(id, context)
    if (locked) reconcileDispute(locked, context)
  }
}

const inOrder = { orderBy: { id: 'asc' } } as const

const followRefunds: Reaction = {
  ...reactionToAll(OfPayment, laterEvents, async (events, context) => {
    const transactionIds = [...new Set(events.map(({ transactionId }) => transactionId))]
    const disputes = await context.em.find(Dispute, { transactionId: { $in: transactionIds } }, inOrder)
    await reconcileDisputes(disputes, context)
  }),
  // Only card payments can be disputed. This skips the other refunds of a transaction.
  concerns: ({ type }) => type !== 'transfer' && type !== 'collect',
}

const Credited = OfPayment.extend({ disputeId: id('dispute') })

/** What a dispute brings, or has brought no longer, changes what later ones of the payment can claim. */
const followCredits: Reaction = {
  ...reaction(Credited, laterEvents, async ({ disputeId, transactionId }, context) => {
    const later = { transactionId, id: inRange({ gt: disputeId }) }
    await reconcileDisputes(await context.em.find(Dispute, later, inOrder), context)
  }),
  concerns: ({ change }) => change === 'credited' || change === 'taken_back',
}

const disputes = bindHandlers(disputesApi, {
  create,
  update: updateDispute,
  addEvidence: addDisputeEvidence,
  submit: submitDispute,
  withdraw: withdrawDispute,
  find: recordLiabilityFinding,
  timeline,
  bundle: downloadDisputeBundle,
  notice: receiveDisputeNotice,

  async list({ query: { from, to, limit: _limit, cursor: _cursor, ...filters } }, context) {
    const created = await createdWithinCondition('dispute', { from, to }, context)
    return context.page(Dispute, definedOnly({ ...filters, ...created }))
  },

  get: getRecord(Dispute, 'dispute_not_found'),
})

const deadline: Deadline = {
  process: disputeProcess,
  table: 'disputes',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: DISPUTE_NEEDS_RUN_SQL,
  waits: 'true',
  activities: ['followDisputeDeadlines', 'callAboutDispute'],
}

/** How the postings of a dispute are described in a statement. */
const disputeNarratives = describePostings(
  'dispute',
  'select id, merchant as name from disputes where owner_id = $1 and mode = $2 and id = any($3::text[])',
  narrativeOfRow,
)

export const disputesArea = area(
  'Disputes',
  'Disputes of card payments: evidence, submission to the card network, its decision, and provisional credits.',
  disputes,
  {
    steps: disputeSteps,
    entities: [Dispute],
    machines: [disputeMachine],
    reactions: { 'transaction.refunded': followRefunds, 'dispute.updated': followCredits },
    answers: [disputeNarratives],
    deadlines: [deadline],
    openRecords: [
      {
        process: disputeProcess,
        select: `select id, owner_id, mode, agent_id, amount_cents from disputes where ${DISPUTE_NEEDS_RUN_SQL}`,
      },
    ],
  },
)

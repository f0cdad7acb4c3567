import { Agent } from '../../control/agents/index.ts'
import { findIntent, hasProof, type Intent, reviewApproval } from '../../control/intents/index.ts'
import { runLimits } from '../../control/runs/index.ts'
import { findCustomer } from '../../identity/customers/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { PaymentState } from '../../kernel/contract/intent-payments.ts'
import { Transaction } from '../../money/transactions/index.ts'
import type { ApprovalView, ShownCheck } from './approval-view.ts'
import { hasNothingLeft, isCardUnusable } from './rule-words.ts'
import type { ApprovalState } from './text-types.ts'
import { mayDecide, viewerOf } from './viewer.ts'

type ReadContext = Pick<Context, 'records' | 'sql' | 'tenant' | 'now' | 'ports' | 'actor'>

/** What the page shows of an intent as it is now; undefined where the tenant has none of this id. */
export async function readApproval(id: string, context: ReadContext): Promise<ApprovalView | undefined> {
  const { records, sql, tenant, now, ports, actor } = context
  const intent = await findIntent(records, id)
  if (!intent) return undefined
  const { runId, transactionId } = intent
  const state = stateOf(intent, now)
  const [agent, runs, customer, payments, transaction, isProved, review] = await Promise.all([
    records.findOneOrFail(Agent, { id: intent.agentId }),
    runLimits(sql, tenant, runId ? [runId] : []),
    findCustomer(records, tenant.ownerId),
    ports.paymentsOn([id], tenant, sql),
    transactionId === null ? null : records.findOne(Transaction, { id: transactionId }),
    hasProof(id, records),
    state === 'created' ? reviewApproval(intent, context) : undefined,
  ])
  const { amountEuros, merchant: payee, purpose, createdAt, expiresAt } = intent
  const { decidedBy, comment, decision } = intent
  const run = runId ? runs.get(runId) : undefined
  const payment = payments[0]
  return {
    id,
    state,
    version: `${intent.status} ${intent.updatedAt.toISOString()}`,
    isTest: tenant.mode === 'test',
    account: customer.name,
    amountEuros,
    largestEuros: review?.largestEuros ?? intent.holdEuros ?? amountEuros,
    payee,
    iban: review ? review.iban : intent.payeeIban,
    way: wayOf(intent),
    purpose,
    agent: agent.name,
    run: run ? { id: run.id, name: run.name } : null,
    createdAt,
    expiresAt,
    reasons: decision.checks.filter(({ outcome }) => outcome === 'review'),
    obstacles: (review?.checks ?? []).filter(({ outcome }) => outcome === 'fail'),
    notices: (review?.checks ?? []).filter(isCardUnusable),
    limits: (review?.checks ?? []).filter(isLimit),
    decidedAt: endOf(intent, state),
    decidedBy,
    comment,
    payment: payment ? paymentWords[payment.status] : null,
    paidEuros: transaction?.amountEuros ?? null,
    hasProof: isProved,
    viewer: viewerOf(actor),
    mayDecide: mayDecide(actor),
  }
}

const isLimit = ({ rule, remaining }: ShownCheck): boolean => remaining !== null && !hasNothingLeft.has(rule)

/** A deadline that has passed ends the intent, whether anybody has noticed or not. */
const stateOf = ({ status, expiresAt }: Intent, now: Date): ApprovalState =>
  status === 'created' && expiresAt <= now ? 'expired' : status

/** When the state began that the page shows. */
function endOf({ status, decidedAt, updatedAt, expiresAt }: Intent, state: ApprovalState): Date {
  if (state === 'expired' && status === 'created') return expiresAt
  return ['approved', 'denied', 'completed'].includes(state) ? (decidedAt ?? updatedAt) : updatedAt
}

function wayOf({ paymentTokenId, requestId, walletId, beneficiaryId }: Intent): ApprovalView['way'] {
  if (paymentTokenId) return 'token'
  if (requestId) return 'request'
  if (walletId) return 'wallet'
  return beneficiaryId ? 'beneficiary' : 'merchant'
}

const paymentWords: Readonly<Record<PaymentState, NonNullable<ApprovalView['payment']>>> = {
  created: 'under_way',
  verifying: 'under_way',
  submitted: 'under_way',
  completed: 'completed',
  rejected: 'rejected',
  cancelled: 'cancelled',
  returned: 'returned',
}

import { Agent } from '../../control/agents/index.ts'
import {
  findIntent,
  hasApprovalProof,
  type Intent,
  intentApprovalProgress,
  reviewApproval,
} from '../../control/intents/index.ts'
import {
  type AuthorizationRequest,
  authorizationAnswer,
  findReadingGrants,
  sealRequest,
} from '../../control/oauth/index.ts'
import { runLimits } from '../../control/runs/index.ts'
import { readAskedApprovers } from '../../identity/approvals/index.ts'
import { findPairing, pairingClosedReason } from '../../identity/cli-auth/index.ts'
import { findCustomer } from '../../identity/customers/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { IntentPaymentState } from '../../kernel/contract/payables.ts'
import { allScopeNames } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { Transaction } from '../../money/transactions/index.ts'
import type { Cents } from '../../values/money.ts'
import { type ApprovalStepsView, readApprovalSteps } from './approval-steps.ts'
import type { AuthorizeView } from './authorize-page.ts'
import type { SignedInViewer } from './layout.ts'
import type { PairingView } from './pairing-page.ts'
import { isCardUnusable, rulesWithoutLimit } from './rule-texts.ts'
import type { ApprovalState, ApproveTexts } from './texts-en.ts'
import type { WaitingIntent, WaitingView } from './waiting-page.ts'

export const roleOf = ({ scopes }: Pick<Actor, 'scopes'>): SignedInViewer['role'] =>
  scopes.has('people:write') ? 'owner' : scopes.has('intents:approve') ? 'approver' : 'viewer'

export const signedInViewer = (actor: Actor): SignedInViewer => ({
  name: actor.name ?? '',
  role: roleOf(actor),
})

const mayDecide = ({ scopes }: Actor): boolean => scopes.has('intents:approve')

export interface DisplayedCheck {
  readonly rule: string
  readonly limit: number | null
  readonly used: number | null
  readonly remaining: number | null
  readonly message: string
}

/** Names and texts come from third parties unchanged; the page escapes them. */
export interface ApprovalView {
  readonly id: string
  readonly state: ApprovalState
  readonly version: string
  readonly isTest: boolean
  readonly account: string
  readonly amountCents: Cents
  readonly largestCents: Cents
  readonly payee: string
  readonly iban: string | null
  readonly way: keyof ApproveTexts['ways']
  readonly purpose: string
  readonly agent: string
  readonly run: { readonly id: string; readonly name: string } | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly reasons: readonly DisplayedCheck[]
  /** Checks that refuse an approval at the present time. */
  readonly obstacles: readonly DisplayedCheck[]
  /** Checks that allow an approval, but delay the payment after it. */
  readonly notices: readonly DisplayedCheck[]
  readonly limits: readonly DisplayedCheck[]
  readonly decidedAt: Date
  readonly decidedBy: { readonly type: string; readonly name: string | null } | null
  readonly comment: string | null
  readonly payment: keyof ApproveTexts['payments'] | null
  readonly paidCents: Cents | null
  /** A machine payment waits for the approval. */
  readonly isPaidAtOnce: boolean
  readonly hasProof: boolean
  readonly viewer: SignedInViewer
  readonly mayDecide: boolean
  /** Null if one person approves. */
  readonly steps: ApprovalStepsView | null
  /** The code of the refusal that an approval of the viewer would get, because the policy asks others. */
  readonly notAsked: string | undefined
}

export async function readApprovalView(id: string, context: WriteContext): Promise<ApprovalView | undefined> {
  const { em, sql, tenant, now, service, actor } = context
  const intent = await findIntent(em, id)
  if (!intent) return undefined
  const { runId, transactionId } = intent
  const state = stateOf(intent, now)
  const [agent, runs, customer, payments, transaction, isProved, review] = await Promise.all([
    em.findOneOrFail(Agent, { id: intent.agentId }),
    runLimits(sql, tenant, runId ? [runId] : []),
    findCustomer(em, tenant.ownerId),
    service.paymentsOn([id], tenant, sql),
    transactionId === null ? null : em.findOne(Transaction, { id: transactionId }),
    hasApprovalProof(id, em),
    state === 'created' ? reviewApproval(intent, context) : undefined,
  ])
  const { amountCents, merchant: payee, purpose, createdAt, expiresAt } = intent
  const { decidedBy, comment, decision } = intent
  const run = runId ? runs.get(runId) : undefined
  const payment = payments[0]
  const steps = review ? review.steps : intentApprovalProgress(intent, [])
  return {
    id,
    state,
    version: `${intent.status} ${intent.updatedAt.toISOString()}`,
    isTest: tenant.mode === 'test',
    account: customer.name,
    amountCents,
    isPaidAtOnce: intent.paymentWaits,
    largestCents: review?.largestCents ?? intent.holdCents ?? amountCents,
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
    payment: payment ? paymentStates[payment.status] : null,
    paidCents: transaction?.amountCents ?? null,
    hasProof: isProved,
    viewer: signedInViewer(actor),
    mayDecide: mayDecide(actor),
    steps: steps && (await readApprovalSteps(steps, em)),
    notAsked: review?.notAsked,
  }
}

const isLimit = ({ rule, remaining }: DisplayedCheck): boolean =>
  remaining !== null && !rulesWithoutLimit.has(rule)

/** An intent counts as expired from its deadline on, even before the sweep has closed it. */
const stateOf = ({ status, expiresAt }: Intent, now: Date): ApprovalState =>
  status === 'created' && expiresAt <= now ? 'expired' : status

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

const paymentStates: Readonly<Record<IntentPaymentState, NonNullable<ApprovalView['payment']>>> = {
  created: 'under_way',
  verifying: 'under_way',
  submitted: 'under_way',
  completed: 'completed',
  rejected: 'rejected',
  cancelled: 'cancelled',
  returned: 'returned',
}

export async function readPairingView(code: string, context: ReadContext): Promise<PairingView | undefined> {
  const { tenant, actor } = context
  const pairing = await findPairing(code, context)
  if (!pairing) return undefined
  const { status, pairingCode, deviceName, address, toolWrites, createdAt, endsAt } = pairing
  return {
    code,
    state: pairingClosedReason(pairing) === 'pairing_expired' ? 'expired' : status,
    pairingCode,
    deviceName,
    address,
    createdAt,
    expiresAt: endsAt,
    mayDoAll: allScopeNames.every(scope => actor.scopes.has(scope)),
    scopes: [...actor.scopes],
    toolWrites,
    isTest: tenant.mode === 'test',
    viewer: signedInViewer(actor),
  }
}

const MOST = 50

/** Reads one intent more than is shown, to know whether there are more. */
const WAITING = `
select id, agent_id as "agentId", amount_cents as "amountCents", merchant as payee, purpose, expires_at as "expiresAt", approval, status
from intents where (owner_id, mode) = ($1, $2) and status = 'created' and expires_at > $3
order by id desc limit ${MOST + 1}`

interface WaitingRow
  extends Row,
    Omit<WaitingIntent, 'agent' | 'steps'>,
    Pick<Intent, 'approval' | 'status'> {
  readonly agentId: string
}

export async function readWaitingView(context: ReadContext): Promise<WaitingView> {
  const { sql, tenant, now, em, actor } = context
  const rows = await sql<WaitingRow>(WAITING, [tenant.ownerId, tenant.mode, now])
  const shown = rows.slice(0, MOST)
  const agents = await em.find(Agent, { id: { $in: shown.map(({ agentId }) => agentId) } })
  const names = new Map(agents.map(({ id, name }) => [id, name]))
  const approvers = await readAskedApprovers(shown, 'created', context)
  return {
    intents: shown.map(row => ({
      ...row,
      agent: names.get(row.agentId) ?? row.agentId,
      steps: intentApprovalProgress(row, approvers),
    })),
    hasMore: rows.length > MOST,
    isTest: tenant.mode === 'test',
    viewer: signedInViewer(actor),
  }
}

const MOST_AGENTS = 100

export async function readAuthorizeView(
  request: AuthorizationRequest,
  context: ReadContext,
): Promise<AuthorizeView> {
  const { em, tenant, now, actor, service } = context
  const ofClient = { personId: String(actor.id), clientId: request.client.clientId }
  const [agents, reading] = await Promise.all([
    em.find(Agent, { status: 'active' }, { orderBy: { id: 'desc' }, limit: MOST_AGENTS }),
    request.mayPay ? findReadingGrants(ofClient, context) : [],
  ])
  const shown = agents.map(({ id, name }) => ({ id, name }))
  return {
    request,
    ticket: sealRequest(request, context),
    agents: shown,
    reads: shown.find(({ id }) => id === reading[0]?.agentId),
    now,
    host: new URL(service.publicUrl()).host,
    mayConnect: ['tokens:write', 'mandates:write', 'agents:write'].every(scope => actor.scopes.has(scope)),
    deniedUrl: authorizationAnswer(request, { error: 'access_denied' }, service),
    isTest: tenant.mode === 'test',
    viewer: signedInViewer(actor),
  }
}

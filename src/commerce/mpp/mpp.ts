import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { findIntent } from '../../control/intents/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { FindIntentPayments, IntentPaymentState } from '../../kernel/contract/payables.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import {
  deadlineInRows,
  hasDeadlineCondition,
  idsWithDeadlineSql,
  openRecordsInRows,
  statusCondition,
} from '../../kernel/database/deadline-rows.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { originalOfConversion } from '../../money/exchange-rates/index.ts'
import { isUnusableInput, parseReceipt } from '../../mpp/index.ts'
import { formatMinute } from '../../values/minute.ts'
import { formatDecimal, formatMoney } from '../../values/money.ts'
import { credentialExpiryEvents, mppApi, mppSteps, protectApi } from './api.ts'
import { waitingPaymentReactions } from './background.ts'
import {
  awaitsPerson,
  isUnshared,
  MppCredential,
  type MppStatus,
  mppCredentialMachine,
} from './credential.ts'
import { machinePaymentReactions, resolveMachinePayment } from './outcome.ts'
import { mintCredential, payMachinePayment } from './pay/pay.ts'
import {
  hasAskedFor,
  isDue,
  isWaitOver,
  keptAnswer,
  MachinePayment,
  MachinePaymentAnswer,
  machinePaymentMachine,
  machinePaymentResponse,
  nextStepOf,
} from './payment.ts'
import { type MppSignal, mppProcess } from './process.ts'
import { createProtectRule, deleteProtectRule, listProtectRules } from './protect.ts'
import { ProtectRule } from './protect-rule.ts'
import type { MachinePaymentState } from './story.ts'

const summaryOf = ({ amountCents, mode, status, outcomeBy, cardId }: MppCredential): string => {
  const by = outcomeBy === null ? '' : `, says the ${outcomeBy}`
  return `Machine payment of ${formatMoney(amountCents)} by ${cardId} in ${mode} mode: ${status}${by}`
}

/** SQL, with the owner as `$1` and the mode as `$2`. */
export const PAYMENTS_TO_CONFIRM_SQL = `mpp_credentials where (owner_id, mode) = ($1, $2)
  and id = any(${idsWithDeadlineSql('mpp_credentials', ['$1', '$2'])}) and next_action is not null`

const second = (at: Date): string => at.toISOString().slice(11, 19)

/** Lists the time of each step. Temporal stores these lines, so they do not name the merchant. */
function stepsOf(credential: MppCredential): string[] {
  const { sentBy, askedAt, createdAt, sentAt, answeredAt, endedAt, merchantStatus, status } = credential
  const outcome = `outcome at ${second(endedAt ?? createdAt)}: ${status}, says the ${credential.outcomeBy}`
  return [
    sentBy === 'service' ? `asked at ${second(askedAt)}: 402` : `challenge handed in at ${second(askedAt)}`,
    `checked: ${formatMoney(credential.amountCents)} for ${credential.intentId}`,
    `minted at ${second(createdAt)}: ${credential.agentCredentialId}`,
    ...(sentAt ? [`sent at ${second(sentAt)}, once`] : []),
    ...(answeredAt ? [`answered at ${second(answeredAt)}: ${merchantStatus ?? 'not in full'}`] : []),
    ...(endedAt ? [outcome] : []),
  ]
}

function signalsOf(credential: MppCredential): MppSignal[] {
  if (awaitsPerson(credential)) return ['notPaid']
  const isHandedOver = credential.status === 'minted' && !isUnshared(credential)
  return isHandedOver || credential.status === 'indeterminate' ? ['paid', 'notPaid'] : []
}

/** What the run of a machine payment reads. Without a deadline its outcome is known, and its token gone. */
export async function machinePaymentStatus(
  id: string,
  context: ReadContext,
): Promise<MachinePaymentState | undefined> {
  const credential = await context.em.findOne(MppCredential, { id })
  if (!credential) return orderStatus(id, context)
  const { status, sentAt, dueAt } = credential
  return {
    status,
    summary: summaryOf(credential),
    closed: dueAt === null,
    doubtfulSince: status === 'indeterminate' ? timeOf(sentAt) : null,
    ...timesOf(dueAt, context),
    next: nextStepOf(credential, context),
    awaitsPerson: awaitsPerson(credential),
    signals: signalsOf(credential),
    steps: stepsOf(credential),
  }
}

const timesOf = (dueAt: Date | null, { now }: ReadContext) => ({
  dueInMs: dueAt && dueAt.getTime() - now.getTime(),
  deadline: dueAt && formatMinute(dueAt),
})

const CLAIMANT_LIVES = 'select 1 from process_leases where id = $1'

/** Before anything is minted. */
async function orderStatus(id: string, context: ReadContext): Promise<MachinePaymentState | undefined> {
  const payment = await context.em.findOne(MachinePayment, { id })
  if (!payment) return undefined
  const { status, intentId, mode, claimedBy, dueAt, reason, createdAt } = payment
  const isClaimed =
    claimedBy !== null &&
    !isDue(payment, context) &&
    (await context.sql(CLAIMANT_LIVES, [claimedBy])).length > 0
  const isWaiting = status === 'waiting' && !isWaitOver(payment, context)
  const why = status === 'ended' ? 'ended' : 'the merchant is asked again'
  return {
    status,
    summary: `Machine payment for ${intentId} in ${mode} mode: ${status}`,
    closed: status === 'ended',
    doubtfulSince: null,
    ...timesOf(dueAt, context),
    next: status === 'ended' ? 'none' : isClaimed || isWaiting ? 'wait' : 'order',
    awaitsPerson: status === 'waiting' && reason === null,
    signals: [],
    steps: [`asked for at ${second(createdAt)}`, ...(reason === null ? [] : [`${why}: ${reason}`])],
  }
}

const MAX_PAYMENTS = 20

const FIND = `
select p.* from unnest($3::text[]) as w (id)
cross join lateral (
  select c.id, c.intent_id as "intentId", c.status, c.amount_cents as "amountCents", c.conversion, c.note, c.updated_at as "updatedAt", (
    select a.status in ('refunded', 'reversed', 'expired') from card_authorizations a
    where (a.owner_id, a.mode, a.intent_id, a.mpp_credential_id) = (c.owner_id, c.mode, c.intent_id, c.id) limit 1) as "isRefunded"
  from mpp_credentials c where (c.owner_id, c.mode, c.intent_id) = ($1, $2, w.id) order by c.id desc limit ${MAX_PAYMENTS}
) p
order by p.id desc`

type PaymentRow = Row &
  Pick<MppCredential, 'id' | 'intentId' | 'amountCents' | 'conversion' | 'note' | 'updatedAt'> & {
    readonly status: MppStatus
    readonly isRefunded: boolean | null
  }

const stateByStatus: Readonly<Record<MppStatus, IntentPaymentState>> = {
  minted: 'submitted',
  sent: 'submitted',
  indeterminate: 'submitted',
  consumed: 'completed',
  void: 'cancelled',
}

const OPEN_REASON = 'The outcome is unknown: the merchant may have been paid.'

const machinePaymentsOn: FindIntentPayments = async (intentIds, { ownerId, mode }, sql) => {
  const rows = await sql<PaymentRow>(FIND, [ownerId, mode, intentIds])
  return rows.map(({ id, intentId, status, amountCents, conversion, note, isRefunded, updatedAt }) => ({
    intentId,
    type: 'mpp' as const,
    id,
    status: status === 'consumed' && isRefunded ? 'returned' : stateByStatus[status],
    amountCents,
    original: conversion && originalOfConversion(conversion),
    reason: status === 'indeterminate' ? { code: status, message: note ?? OPEN_REASON } : null,
    updatedAt,
  }))
}

const getMachinePayment: HandlerOf<typeof mppApi.payment> = async ({ params: { id } }, context) => {
  const { em, actor, systems, refuse } = context
  const [payment, credential, answer] = await Promise.all([
    em.findOne(MachinePayment, { id }),
    em.findOne(MppCredential, { id }),
    em.findOne(MachinePaymentAnswer, { id }),
  ])
  if (!payment) return refuse('machine_payment_not_found')
  const kept = hasAskedFor(payment, actor) ? keptAnswer(answer, systems.vault) : null
  return machinePaymentResponse(payment, { credential, answer: kept })
}

const EVIDENCE_TYPE = 'payment-evidence'

const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null

const credentialClaims = (credential: MppCredential) => ({
  id: credential.id,
  digest: credential.credentialDigest === '' ? null : `sha-256=${credential.credentialDigest}`,
  status: credential.status,
  outcomeBy: credential.outcomeBy,
  amountEuros: Number(formatDecimal(credential.amountCents)),
  network: credential.network,
  merchant: credential.merchant,
  agentCredentialId: credential.agentCredentialId,
  transactionId: credential.transactionId,
  askedAt: timeOf(credential.askedAt),
  mintedAt: timeOf(credential.createdAt),
  sentAt: timeOf(credential.sentAt),
  answeredAt: timeOf(credential.answeredAt),
  endedAt: timeOf(credential.endedAt),
})

const requestClaims = ({ method, url, requestDigest, merchantStatus }: MppCredential) => ({
  method,
  url,
  digest: requestDigest,
  answeredWith: merchantStatus,
})

function receiptClaims(header: string | null) {
  if (header === null) return null
  const parsed = parseReceipt(header)
  return { header, says: isUnusableInput(parsed) ? null : parsed }
}

const evidence: HandlerOf<typeof mppApi.evidence> = async ({ params }, { em, tenant, systems, refuse }) => {
  const credential = await em.findOne(MppCredential, { id: params.id })
  if (!credential) return refuse('credential_not_found')
  const [intent, payment] = await Promise.all([
    findIntent(em, credential.intentId),
    em.findOne(CardAuthorization, { intentId: credential.intentId, mppCredentialId: credential.id }),
  ])
  const jws = systems.signer.sign(EVIDENCE_TYPE, {
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    asOf: timeOf(credential.updatedAt),
    agentId: credential.agentId,
    cardId: credential.cardId,
    decision: payment?.decision ?? null,
    intent: intent && {
      id: intent.id,
      merchant: intent.merchant,
      purpose: intent.purpose,
      amountEuros: Number(formatDecimal(intent.amountCents)),
      decidedAt: timeOf(intent.decidedAt),
    },
    challenge: credential.challenge,
    request: requestClaims(credential),
    credential: credentialClaims(credential),
    receipt: receiptClaims(credential.receipt),
  })
  return { credentialId: credential.id, jws }
}

/** Each credential whose outcome is open has a deadline. */
const byStatus = (status: MppStatus | undefined, tenant: Tenant) =>
  statusCondition(status, {
    exceptional: ['minted', 'indeterminate', 'void'],
    open: ['sent'],
    isOpen: hasDeadlineCondition('mpp_credentials', tenant),
  })

const mpp = bindHandlers(
  { ...mppApi, ...protectApi },
  {
    pay: payMachinePayment,
    mint: mintCredential,
    resolve: resolveMachinePayment,
    evidence,
    protect: createProtectRule,
    rules: listProtectRules,
    unprotect: deleteProtectRule,

    list: ({ query: { status, waitsFor, agentId, intentId, cardId } }, { page, tenant }) =>
      page(MppCredential, {
        ...definedOnly({ agentId, intentId, cardId }),
        ...byStatus(status, tenant),
        ...(waitsFor && {
          ...hasDeadlineCondition('mpp_credentials', tenant),
          ...sqlCondition('next_action is not null'),
        }),
      }),

    payment: getMachinePayment,

    get: getRecord(MppCredential, 'credential_not_found'),
  },
)

/** A process that has died does not order it any more. */
const orderDue: Deadline = {
  process: mppProcess,
  ...deadlineInRows('mpp_payments', { isFollowed: true }),
  activities: ['mintCredential', 'createSharedToken', 'sendCredential'],
}

const outcomeDue: Deadline = {
  process: mppProcess,
  ...deadlineInRows('mpp_credentials', { isFollowed: true }),
  activities: ['leaveOutcomeOpen', 'endUnpaid', 'deleteNetworkToken'],
}

export const mppArea = area(
  'MPP',
  'Paying merchants that answer HTTP 402, once per intent, and only those that the owner allows.',
  mpp,
  {
    steps: mppSteps,
    entities: [MppCredential, ProtectRule, MachinePayment, MachinePaymentAnswer],
    machines: [machinePaymentMachine, mppCredentialMachine],
    deadlines: [orderDue, outcomeDue],
    expiring: [{ table: 'mpp_answers', column: 'expires_at', keptMs: 0 }],
    openRecords: [
      { process: mppProcess, select: openRecordsInRows('mpp_credentials') },
      { process: mppProcess, select: openRecordsInRows('mpp_payments') },
    ],
    reactions: { ...machinePaymentReactions, ...waitingPaymentReactions },
    announces: credentialExpiryEvents,
    findPayments: machinePaymentsOn,
  },
)

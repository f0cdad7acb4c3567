import { defineEntity, p } from '@mikro-orm/core'
import type { personalDecision } from '../../control/intents/index.ts'
import type { CardControls } from '../../control/rules/index.ts'
import {
  type ApprovalProgress,
  type Approver,
  approvalEventCounts,
  approvalProgressResponse,
  readAskedApprovers,
  setApproval,
} from '../../identity/approvals/index.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { days } from '../../values/clock.ts'
import { requireFirst } from '../../values/collections.ts'
import { jsonName } from '../../values/json-names.ts'
import { type Cents, formatMoney, maxOf, UNLIMITED_CENTS } from '../../values/money.ts'
import { ID_AND_NAME } from '../../values/personal.ts'
import { truncateText } from '../../values/schemas.ts'
import { type CardLimits, cardUsages } from '../cards/index.ts'

export const cardRequestMachine = stateMachine('card-request', {
  pending: ['approved', 'denied', 'cancelled', 'expired'],
  approved: ['issued', 'changed', 'failed'],
  issued: [],
  changed: [],
  denied: [],
  cancelled: [],
  expired: [],
  failed: [],
})

/** SQL condition: the request's process waits for an event. */
export const OPEN_CARD_REQUEST_SQL = "status in ('pending', 'approved')"

export const cardRequestTypes = ['new_card', 'limit_change'] as const

type AnsweredBy =
  | ReturnType<typeof personalDecision>
  | { readonly type: 'policy'; readonly id: string; readonly name: null }

export const CARD_REQUEST_TTL_MS = days(3)

/** Bounds the pending requests of one agent, since a person reads each. */
export const MAX_PENDING_CARD_REQUESTS = 20

const schema = defineEntity({
  ...tenantTable('CardRequest', 'card_requests', 'agentId', 'delegationId'),
  ...personalTable({ about: { person: ["answered_by ->> 'id'"] } }),
  properties: {
    ...recordColumns('cardreq'),
    agentId: p.text(),
    delegationId: nullable.string(),
    type: plain(p.enum(cardRequestTypes)),
    status: p.enum(cardRequestMachine.states).onCreate(() => cardRequestMachine.initial),
    /** The card whose limits are to change, or the new card once the processor is asked for it. */
    cardId: nullable.string(),
    usage: plain(nullable.enum(cardUsages)),
    displayName: personal(nullable.string(), 'words', 'contract', 'word'),
    maxTransactionCents: nullable.cents('max_transaction_cents'),
    dailyLimitCents: nullable.cents('daily_limit_cents'),
    monthlyLimitCents: nullable.cents('monthly_limit_cents'),
    controls: personal(
      nullable.json<Omit<CardControls, 'maxTransactionCents'>>(),
      'payment',
      'contract',
      'null',
    ),
    reason: personal(p.text(), 'words', 'contract', 'word'),
    approvedMaxTransactionCents: nullable.cents('approved_max_transaction_cents'),
    approvedDailyLimitCents: nullable.cents('approved_daily_limit_cents'),
    approvedMonthlyLimitCents: nullable.cents('approved_monthly_limit_cents'),
    answeredAt: nullable.instant(),
    answeredBy: personal(nullable.json<AnsweredBy>(), 'name', 'contract', ID_AND_NAME),
    comment: personal(nullable.string(), 'words', 'contract', 'word'),
    failureReason: plain(nullable.string()),
    expiresAt: timestampColumn(),
    dueAt: nullable.instant(),
    workflowId: p.text(),
    /** The person who asked for it, in the console or with a credential that the person made. */
    requesterId: plain(nullable.string()),
    /** How far the approvals have come, if the policy asks several people. */
    approval: plain(nullable.json<ApprovalProgress>()),
    approvalDueAt: nullable.instant(),
  },
})

export class CardRequest extends schema.class {}
schema.setClass(CardRequest)

/** Shows a new card only once it is issued, since the processor may refuse it until then. */
const shownCardId = ({ type, status, cardId }: CardRequest): string | null =>
  type === 'new_card' && status !== 'issued' && status !== 'failed' ? null : cardId

export const cardLimitNames = ['maxTransactionCents', 'dailyLimitCents', 'monthlyLimitCents'] as const
type LimitName = (typeof cardLimitNames)[number]

type ApproverLimits = { readonly [Name in LimitName]?: CardLimits[Name] | undefined }

export const noCardLimits: CardLimits = {
  maxTransactionCents: null,
  dailyLimitCents: null,
  monthlyLimitCents: null,
}

const mapLimits = (limitOf: (name: LimitName) => CardLimits[LimitName]): CardLimits => ({
  maxTransactionCents: limitOf('maxTransactionCents'),
  dailyLimitCents: limitOf('dailyLimitCents'),
  monthlyLimitCents: limitOf('monthlyLimitCents'),
})

export const requestedLimits = (request: CardRequest): CardLimits => mapLimits(name => request[name])

export const approvedLimits = (request: CardRequest): CardLimits => ({
  maxTransactionCents: request.approvedMaxTransactionCents,
  dailyLimitCents: request.approvedDailyLimitCents,
  monthlyLimitCents: request.approvedMonthlyLimitCents,
})

/** What steps of approval are compared with. A request without a limit exceeds every step. */
export function amountToApprove(asked: Readonly<CardLimits>): Cents {
  const limits = cardLimitNames.flatMap(name => asked[name] ?? [])
  return limits.length > 0 ? limits.reduce(maxOf) : UNLIMITED_CENTS
}

/** Why these limits are refused where others have approved other ones; undefined if they agree, or none were sent. */
export function differingLimitProblem(
  asked: CardLimits,
  given: ApproverLimits,
  approved: CardLimits,
): string | undefined {
  const name = cardLimitNames.find(
    one => given[one] !== undefined && limitsToApprove(asked, given)[one] !== approved[one],
  )
  if (!name) return undefined
  const limit = approved[name]
  const inWords = limit === null ? 'no such limit' : formatMoney(limit)
  return `limits.${jsonName(name)}: the others have approved ${inWords}. Leave limits out to approve what they have, or deny the request.`
}

export const approvedColumns = (limits: CardLimits) => ({
  approvedMaxTransactionCents: limits.maxTransactionCents,
  approvedDailyLimitCents: limits.dailyLimitCents,
  approvedMonthlyLimitCents: limits.monthlyLimitCents,
})

/** How a request is stored that one person approves. */
export const withoutSteps = { approval: null, approvalDueAt: null, ...approvedColumns(noCardLimits) }

/** The next people approve the limits of the first: while no approval counts, there are none. */
export function setCardApproval(
  request: CardRequest,
  progress: ApprovalProgress,
  circumstances: Parameters<typeof setApproval>[2],
): void {
  setApproval(request, progress, circumstances)
  if (progress.given.length === 0) Object.assign(request, approvedColumns(noCardLimits))
}

export const limitsToApprove = (asked: CardLimits, given: ApproverLimits): CardLimits =>
  mapLimits(name => given[name] ?? asked[name])

export function raisedLimitProblem(
  asked: CardLimits,
  given: ApproverLimits,
  current: CardLimits,
): string | undefined {
  for (const name of cardLimitNames) {
    const problem = problemWith(given[name], asked[name], current[name])
    if (problem) return `limits.${jsonName(name)}: ${problem}`
  }
  return undefined
}

function problemWith(
  given: Cents | null | undefined,
  asked: Cents | null,
  current: Cents | null,
): string | undefined {
  if (given === undefined) return undefined
  if (given === null)
    return asked === null
      ? undefined
      : `${formatMoney(asked)} is requested. An approver may lower a limit, but not drop it.`
  if (asked !== null)
    return given <= asked
      ? undefined
      : `${formatMoney(given)} is more than the requested ${formatMoney(asked)}. An approver may lower a limit, but not raise it.`
  if (current === null || given <= current) return undefined
  return `the card has ${formatMoney(current)}, and no more is requested. An approver may lower a limit, but not raise it.`
}

const lower = (one: Cents | null, other: Cents | null): Cents | null =>
  one === null || (other !== null && other < one) ? other : one

/**
 * The limits of a card after a request is carried out. A requested limit becomes what was approved. A limit
 * that only the approver named never rises, even if the card has changed since. The others stay.
 */
export const limitsAfterRequest = (
  asked: CardLimits,
  approved: CardLimits,
  current: CardLimits,
): CardLimits =>
  mapLimits(name => (asked[name] === null ? lower(approved[name], current[name]) : approved[name]))

const isApproved = ({ status }: CardRequest): boolean =>
  status === 'approved' || status === 'issued' || status === 'changed' || status === 'failed'

const hasApprovals = ({ approval }: CardRequest): boolean => approval !== null && approval.given.length > 0

/** The approvals of several people, as the record has them. */
const approvalOf = (request: CardRequest, approvers: readonly Approver[]) =>
  request.approval &&
  approvalProgressResponse(request.approval, {
    amountCents: amountToApprove(request),
    isOpen: request.status === 'pending',
    approvers,
  })

export async function cardRequestResponses(requests: readonly CardRequest[], context: SqlContext) {
  const approvers = await readAskedApprovers(requests, 'pending', context)
  return requests.map(request => responseOf(request, approvers))
}

export const cardRequestResponse = async (request: CardRequest, context: SqlContext) =>
  requireFirst(await cardRequestResponses([request], context))

const responseOf = (request: CardRequest, approvers: readonly Approver[]) =>
  withMembers(request, {
    cardId: shownCardId(request),
    limits: requestedLimits(request),
    approvedLimits:
      isApproved(request) || (request.status === 'pending' && hasApprovals(request))
        ? approvedLimits(request)
        : null,
    approval: approvalOf(request, approvers),
  })

export const cardRequestEvent = (request: CardRequest, reason?: string | null) => ({
  requestId: request.id,
  agentId: request.agentId,
  cardId: shownCardId(request),
  type: request.type,
  status: request.status,
  ...(isApproved(request) ? approvedLimits(request) : requestedLimits(request)),
  ...(reason ? { reason: truncateText(reason) } : {}),
})

/** The data of an event about the approvals of several people. */
export function cardApprovalEvent(request: CardRequest, reason?: string | null) {
  const { id, approval } = request
  if (!approval) throw new Error(`${id} has no approvals of several people`)
  const counts = approvalEventCounts(approval, amountToApprove(request))
  return { ...cardRequestEvent(request, reason), ...counts }
}

export const isFulfilmentDue = ({ status, dueAt }: CardRequest): boolean =>
  status === 'approved' && dueAt !== null

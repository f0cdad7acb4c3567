import { findIntent } from '../../control/intents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { mayUseRecord } from '../../kernel/database/entity.ts'
import { idPrefix } from '../../values/ids.ts'
import { approvalUrl, resultOfIntent } from './intents.ts'
import { openPaymentStatuses, resultOfPayment } from './payments.ts'
import { shownProposal } from './run-operation.ts'
import { mayWriteByTools, type ToolResult, toolRefusal, toolSuccess } from './tool-call.ts'

/** A record that waits for a person, as the API shows it. */
interface WaitingRecord {
  readonly id: string
  readonly status: string
  readonly createdAt: string
  readonly updatedAt: string
  /** Undefined for a payment, which has a deadline only while it waits: `dueAt`. */
  readonly expiresAt?: string
  readonly [member: string]: unknown
}

interface TaskKind {
  readonly read: string
  readonly cancel: string
  /** The member that names the record to be cancelled, if it is another one. */
  readonly cancels?: string
  /** A call whose record has one of these statuses has a task in place of an answer. */
  readonly open: readonly string[]
  /** In this status a person has not decided yet. */
  readonly waiting: string
  /** Whether a tool of this caller makes such records, and this one is its own to change. */
  isOf(record: WaitingRecord, context: Context): Promise<boolean> | boolean
  /** Final once it is completed or cancelled: what happens to the record later does not change it. */
  stateOf(record: WaitingRecord): 'working' | 'completed' | 'cancelled'
  pageOf(record: WaitingRecord, context: Context): string
  /** What the tool answers about the record once it is decided. */
  resultOf(record: WaitingRecord, context: Context): Promise<ToolResult> | ToolResult
}

const intents: TaskKind = {
  read: 'intents.get',
  cancel: 'intents.cancel',
  open: ['created'],
  waiting: 'created',
  isOf: async ({ id }, { actor, em }) =>
    mayWriteByTools(actor) && mayUseRecord(actor, (await findIntent(em, id)) ?? { tokenId: null }),
  stateOf({ status, decidedAt }) {
    if (status === 'created') return 'working'
    return status === 'cancelled' && decidedAt === null ? 'cancelled' : 'completed'
  },
  pageOf: approvalUrl,
  resultOf: (intent, context) => resultOfIntent(intent, false, context),
}

const cardRequests: TaskKind = {
  read: 'cardRequests.get',
  cancel: 'cardRequests.cancel',
  open: ['pending'],
  waiting: 'pending',
  isOf: (_, { actor }) => actor.toolWrites === true,
  stateOf({ status }) {
    if (status === 'pending' || status === 'approved') return 'working'
    return status === 'cancelled' ? 'cancelled' : 'completed'
  },
  pageOf: ({ id }, { service }) => service.pageUrl(`/console/card-requests/${id}`),
  resultOf(cardRequest) {
    const { status, comment, failureReason } = cardRequest
    if (status === 'issued' || status === 'changed') return toolSuccess(cardRequest)
    const why = failureReason ?? comment
    const sentence = `The card request is ${status}${why ? `: ${why}` : '.'}`
    return toolRefusal(`card_request_${status}`, sentence, [], { cardRequest })
  },
}

interface Named {
  readonly id: string | null
}

const proposerOf = ({ proposedBy }: WaitingRecord): string | null => (proposedBy as Named).id

/** What several people decide about is a change request first. */
const appliedSentence = ({ operation, resultId }: WaitingRecord): string =>
  idPrefix(String(resultId)) === 'changerequest' && !String(operation).startsWith('changeRequests.')
    ? `A person has applied this. Nothing has changed yet, as it waits for several people: ${resultId} (GET /change-requests/{id}).`
    : 'A person has applied this: it is done.'

const proposals: TaskKind = {
  read: 'proposals.get',
  cancel: 'proposals.dismiss',
  open: ['open'],
  waiting: 'open',
  isOf: (proposal, { actor }) => actor.id !== null && proposerOf(proposal) === actor.id,
  stateOf(proposal) {
    const { status, decidedBy } = proposal
    if (status === 'open' || status === 'applying') return 'working'
    const isWithdrawn = (decidedBy as Named | null)?.id === proposerOf(proposal)
    return status === 'dismissed' && isWithdrawn ? 'cancelled' : 'completed'
  },
  pageOf: ({ id }, { service }) => service.pageUrl(`/console/proposals/${id}`),
  resultOf(record) {
    const { status, resultId, refusal } = record
    const proposal = { ...shownProposal(record), resultId }
    if (status === 'applied') return toolSuccess({ proposal }, false, appliedSentence(record))
    const why = (refusal as { readonly message: string } | null)?.message
    const sentence = `The proposal is ${status}${why ? `: ${why}` : '.'}`
    return toolRefusal(`proposal_${status}`, sentence, [], { proposal })
  },
}

/** A payment that its caller does not wait for. Cancelling its intent ends it, unless it has begun. */
const machinePayments: TaskKind = {
  read: 'mpp.payment',
  cancel: 'intents.cancel',
  cancels: 'intentId',
  open: openPaymentStatuses,
  waiting: 'waiting',
  isOf: async ({ intentId }, { actor, em }) =>
    mayWriteByTools(actor) &&
    mayUseRecord(actor, (await findIntent(em, String(intentId))) ?? { tokenId: null }),
  stateOf: ({ status }) => (openPaymentStatuses.includes(status) ? 'working' : 'completed'),
  pageOf: ({ intentId }, context) => approvalUrl({ id: String(intentId), status: '' }, context),
  resultOf: payment => resultOfPayment(payment),
}

const kinds: ReadonlyMap<string, TaskKind> = new Map([
  ['intent', intents],
  ['cardreq', cardRequests],
  ['proposal', proposals],
  ['mppcredential', machinePayments],
])

export interface Task {
  readonly kind: TaskKind
  readonly record: WaitingRecord
}

/** The task of this id is the record of this id, read with the caller's rights. Undefined where it is not the caller's. */
export async function findTask(id: string, context: Context): Promise<Task | undefined> {
  const kind = kinds.get(idPrefix(id))
  if (!kind) return undefined
  const { body, refusal, status } = await context.service.tools.call(context, kind.read, { id }, null)
  if (status >= 500) throw new Problem('unavailable', refusal?.message)
  const record = body as WaitingRecord
  return !refusal && (await kind.isOf(record, context)) ? { kind, record } : undefined
}

import { createHash } from 'node:crypto'
import type { BankMessage } from '../../iso20022/bank-message.ts'
import type { BankFile } from '../../iso20022/camt.ts'
import { isKnownPaymentStatus, type PaymentStatusReport } from '../../iso20022/pain002.ts'
import type { PaymentNotice, ReportedStatus } from '../../iso20022/payment-notice.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { tableOf } from '../../kernel/database/table.ts'
import { platformTenantInMode, recordBankFile } from '../../money/incoming/index.ts'
import { newId } from '../../values/ids.ts'
import { truncateText } from '../../values/schemas.ts'
import { type SubmittedPayment, submittedPayments } from '../transfers/index.ts'
import type { bankReportOutcomes, railsApi } from './api.ts'
import {
  SepaMessage,
  SepaNotice,
  sepaMessageResponse,
  sepaNoticeMachine,
  WHILE_NO_DEBIT_IS_ASSIGNED,
} from './message.ts'
import { endToEndIdsInMessage } from './queue.ts'
import { findUnreportedFiles, noteBookings, noteReport } from './report.ts'
import type { messageIn } from './thread.ts'

type ReadContext = ContextOf<typeof railsApi.read>

/** Stores a bank file's reports in one transaction. Each transfer then changes in its own transaction. */
export const readBankFile: HandlerOf<typeof railsApi.read> = async ({ body: { content, mode } }, context) => {
  const { now, em, switchTenant, refuse, systems } = context
  const bytes = Buffer.from(content, 'base64')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const platform = platformTenantInMode(mode)
  switchTenant(platform)
  const earlier = await em.findOne(SepaMessage, { ...platform, sha256 })
  if (earlier) return sepaMessageResponse(earlier)
  const bankMessage = await systems.threads.run<typeof messageIn>(
    { module: new URL('./thread.ts', import.meta.url), name: 'messageIn', owner: platform.ownerId },
    bytes,
    now.toISOString().slice(0, 10),
  )
  if ('unreadable' in bankMessage) return refuse('file_unreadable', `content: ${bankMessage.unreadable}`)
  return sepaMessageResponse(await recordMessage(bankMessage, sha256, mode, context))
}

async function recordMessage(
  bankMessage: BankMessage,
  sha256: string,
  mode: Mode,
  context: ReadContext,
): Promise<SepaMessage> {
  const { em, switchTenant, emit } = context
  const platform = platformTenantInMode(mode)
  const { kind, statement, report, notices } = bankMessage
  // They run in this order, so payments are matched under the lock.
  const [, matched, booked] = await Promise.all([
    context.sql(WHILE_NO_DEBIT_IS_ASSIGNED),
    matchPayments(bankMessage, mode, context.sql),
    report ? [] : findUnreportedFiles(context.sql, mode, endToEndIdsOf(notices)),
  ])
  const credits = statement && (await recordCredits(statement, mode, context))
  switchTenant(platform)
  const payments = matched.map(({ tenant: _, payeeCheck: __, ...payment }) => payment)
  const messageId = truncateText(bankMessage.messageId)
  const message = em.create(SepaMessage, {
    ...platform,
    sha256,
    kind,
    messageId,
    payments,
    credits: credits ?? null,
  })
  await em.flush()
  const fileId = report && (await noteReport(report, matched.some(isTaken), context))
  await noteBookings(booked, context)
  const taken = createNotices({ messageId: message.id, fileId }, matched, context)
  emit('sepa.message_read', {
    sepaMessageId: message.id,
    kind,
    messageId: message.messageId,
    payments: payments.length,
    taken,
    unknown: matched.filter(({ outcome }) => outcome === 'unknown_status').length,
  })
  return message
}

/** A skipped entry of our own payments alone is listed among the payments, not as skipped. */
async function recordCredits(statement: BankFile, mode: Mode, context: ReadContext) {
  const counts = await recordBankFile(statement, mode, context)
  const others = statement.skipped.filter(
    ({ payments, reason }) => payments.length === 0 || !ofOwnPayments.has(reason),
  )
  const skipped = others.map(({ bankReference, reason }) => ({ bankReference, reason }))
  return { ...counts, skipped }
}

const ofOwnPayments: ReadonlySet<string> = new Set(['not_a_credit', 'returned_payment'])

const insertNotices = insertInto(tableOf(SepaNotice))

const isTaken = ({ outcome }: MatchedPayment): boolean => outcome === 'taken'

/** By SQL, as the transfers belong to many owners: an entity manager writes the rows of one. */
function createNotices(
  about: { readonly messageId: string; readonly fileId: string | null },
  matched: readonly MatchedPayment[],
  { sql, now, queueStatement }: ReadContext,
): number {
  const taken = matched.filter(isTaken)
  const rows = taken.flatMap(({ tenant, transferId, notice, reasonCode, payeeCheck }) =>
    tenant && transferId && notice
      ? {
          ...tenant,
          id: newId('sepanotice'),
          createdAt: now,
          updatedAt: now,
          ...about,
          transferId,
          notice,
          reasonCode,
          payeeCheck,
          status: sepaNoticeMachine.initial,
          dueAt: now,
        }
      : [],
  )
  queueStatement(insertNotices(sql, rows))
  return taken.length
}

interface MatchedPayment extends ReportedStatus {
  readonly endToEndId: string | null
  readonly cents: string | null
  readonly transferId: string | null
  readonly outcome: (typeof bankReportOutcomes)[number]
  readonly tenant: Tenant | null
}

async function matchPayments(
  { notices, report }: BankMessage,
  mode: Mode,
  sql: Sql,
): Promise<MatchedPayment[]> {
  if (!report) return matchAll(notices, await submittedPayments(sql, mode, endToEndIdsOf(notices)), mode)
  const ordered = await endToEndIdsInMessage(sql, mode, report.originalMessageId)
  if (ordered.length > 0) {
    const submitted = await submittedPayments(sql, mode, ordered)
    return [...matchAll(withOthersNotice(report, ordered), submitted, mode), ...report.unknown.map(ofTheFile)]
  }
  const unknown = notices.length > 0 ? notices : [wholeFile(report)]
  return matchAll(unknown, [], mode).map(payment => ({ ...payment, outcome: 'unknown_file' }))
}

const endToEndIdsOf = (notices: readonly { readonly endToEndId: string | null }[]): string[] =>
  notices.flatMap(({ endToEndId }) => endToEndId ?? [])

function matchAll(
  notices: readonly PaymentNotice[],
  submitted: readonly SubmittedPayment[],
  mode: Mode,
): MatchedPayment[] {
  const byEndToEndId = new Map(submitted.map(payment => [payment.endToEndId, payment]))
  return notices.map(paymentNotice => {
    const { amountCents, ...reported } = paymentNotice
    const { endToEndId } = reported
    const transfer = byEndToEndId.get(endToEndId ?? '')
    return {
      ...reported,
      cents: amountCents ? String(amountCents) : null,
      transferId: transfer?.id ?? null,
      outcome: outcomeOf(paymentNotice, transfer),
      tenant: transfer ? { ownerId: transfer.ownerId, mode } : null,
    }
  })
}

function withOthersNotice(
  { notices, othersNotice }: PaymentStatusReport,
  ordered: readonly string[],
): readonly PaymentNotice[] {
  if (!othersNotice) return notices
  const named = new Set(endToEndIdsOf(notices))
  const others = ordered.filter(endToEndId => !named.has(endToEndId))
  return [...notices, ...others.map(endToEndId => ({ ...othersNotice, endToEndId, amountCents: null }))]
}

const wholeFile = ({ othersNotice, unknown: [unknown] }: PaymentStatusReport): PaymentNotice => ({
  ...(othersNotice ?? unknown ?? { status: null, notice: null, reasonCode: null, payeeCheck: null }),
  endToEndId: null,
  amountCents: null,
})

const ofTheFile = (reported: ReportedStatus): MatchedPayment => ({
  ...reported,
  endToEndId: null,
  cents: null,
  transferId: null,
  outcome: 'unknown_status',
  tenant: null,
})

function outcomeOf(
  { status, notice, amountCents }: PaymentNotice,
  transfer: SubmittedPayment | undefined,
): MatchedPayment['outcome'] {
  if (!transfer) return 'unknown_payment'
  if (status !== null && !isKnownPaymentStatus(status)) return 'unknown_status'
  if (notice === null) return 'on_its_way'
  const isSameAmount = amountCents === null || amountCents === transfer.amountCents
  return isSameAmount ? 'taken' : 'amount_differs'
}

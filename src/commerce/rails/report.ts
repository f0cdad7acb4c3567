import type { PaymentStatusReport } from '../../iso20022/pain002.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { RecordRef } from '../../kernel/contract/step.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { formatMinute } from '../../values/minute.ts'
import { formatMoney } from '../../values/money.ts'
import { sepaFileProcess } from './process.ts'
import { LATE_FILE_SQL, SepaFile } from './sepa-file.ts'

const WAITING_NOTICES = `
select id, owner_id as "ownerId", mode from sepa_notices
where file_id = $1 and due_at is not null and id > $2 order by id limit 32`

/** What the bank says of payments in the file, and is not taken yet: a page after this id. Each has the owner of its transfer. */
const waitingNotices = (sql: Sql, fileId: string, after = ''): Promise<RecordRef[]> =>
  sql<RecordRef & Row>(WAITING_NOTICES, [fileId, after])

/** Longer than a page takes. A worker that dies is followed by another one. */
const TAKING_MS = minutes(2)

/**
 * Claims a page of notices; the first one only where the file is due, since another worker may be taking them. Undefined
 * where it is not.
 */
export async function claimNotices(
  id: string,
  after: string | undefined,
  tx: WriteContext,
): Promise<RecordRef[] | undefined> {
  const { em, sql, now } = tx
  const file = await em.findOne(SepaFile, { id }, FOR_UPDATE)
  if (file?.status !== 'handed_over' || !file.dueAt) return undefined
  if (after === undefined && file.dueAt > now) return undefined
  const notices = await waitingNotices(sql, id, after)
  if (notices.length > 0) file.dueAt = addMs(now, TAKING_MS)
  return notices
}

/** When a file that was handed over is due: at once while notices wait, then when its report is late. */
export async function dueAtOf(
  { id, report, reportDueAt }: SepaFile,
  { sql, now }: ReadContext,
): Promise<Date | null> {
  const waiting = await waitingNotices(sql, id)
  if (waiting.length > 0) return now
  return report === 'awaited' ? reportDueAt : null
}

/** All notices are taken, unless another report has come meanwhile. */
export async function endTakingReport(id: string, tx: WriteContext): Promise<void> {
  const file = await tx.em.findOne(SepaFile, { id }, FOR_UPDATE)
  if (file?.status !== 'handed_over') return
  file.dueAt = await dueAtOf(file, tx)
  wakeRun(file, tx)
}

/** The sweep may have done this in place of the run, which then waits for the end of the sweep’s attempt. */
export const wakeRun = ({ id }: SepaFile, { wake }: WriteContext): void =>
  wake(sepaFileProcess, { id, agentId: null })

/** The bank reports on a file. Gives its id: its run takes the notices. A report on the payees alone is still no report. */
export async function noteReport(
  { originalMessageId: messageId, onlyVerifies }: PaymentStatusReport,
  hasNotices: boolean,
  tx: WriteContext,
): Promise<string | null> {
  const file = await tx.em.findOne(SepaFile, { mode: tx.tenant.mode, messageId }, FOR_UPDATE)
  if (!file || file.content === null) return null
  await note(file, { isReported: !onlyVerifies, hasNotices }, tx)
  return file.id
}

const UNREPORTED_FILES = `
select id from sepa_files where mode = $1 and report in ('awaited', 'late') and id in (
  select file_id from sepa_instructions where end_to_end_id = any($2))`

/** The files with one of these payments, of which no report has come. */
export const findUnreportedFiles = async (
  sql: Sql,
  mode: Mode,
  endToEndIds: readonly string[],
): Promise<string[]> => (await sql<{ id: string }>(UNREPORTED_FILES, [mode, endToEndIds])).map(({ id }) => id)

/** Files of which the bank has booked a payment need no report any more. */
export async function noteBookings(ids: readonly string[], tx: WriteContext): Promise<void> {
  if (ids.length === 0) return
  const files = await tx.em.find(SepaFile, { id: { $in: ids } }, FOR_UPDATE_BY_ID)
  for (const file of files) await note(file, { isReported: true, hasNotices: false }, tx)
}

interface Noted {
  readonly isReported: boolean
  /** They are inserted at the end of the transaction. */
  readonly hasNotices: boolean
}

async function note(file: SepaFile, { isReported, hasNotices }: Noted, tx: WriteContext): Promise<void> {
  const { isOpen: wasOpen } = file
  if (isReported && file.report !== 'received')
    Object.assign(file, { report: 'received', reportedAt: tx.now })
  if (file.status === 'handed_over') file.dueAt = hasNotices ? tx.now : await dueAtOf(file, tx)
  if (wasOpen || file.isOpen) wakeRun(file, tx)
}

const COUNT_LATE = `select count(*)::int as late from sepa_files where ${LATE_FILE_SQL}`

export const countLateFiles = async (sql: Sql): Promise<number> =>
  (await sql<{ late: number }>(COUNT_LATE))[0]?.late ?? 0

const FILE_STATUS = `
select f.status, f.report, f.payments, f.total_cents as "totalCents", f.due_at as "dueAt",
  f.handed_over_at as "handedOverAt", n.waiting, n.rejected
from sepa_files f cross join lateral (
  select count(*) filter (where due_at is not null)::int as waiting,
    count(distinct transfer_id) filter (where notice = 'rejected')::int as rejected
  from sepa_notices where file_id = f.id) n
where (f.owner_id, f.mode, f.id) = ($1, $2, $3)`

type FileStatus = Row &
  Pick<SepaFile, 'status' | 'report' | 'payments' | 'totalCents' | 'dueAt' | 'handedOverAt'> & {
    readonly waiting: number
    readonly rejected: number
  }

/** What the run of a file reads. */
export async function sepaFileStatus(id: string, { tenant, sql, now }: ReadContext) {
  const { ownerId, mode } = tenant
  const [file] = await sql<FileStatus>(FILE_STATUS, [ownerId, mode, id])
  if (!file) return undefined
  const { status, report, dueAt, handedOverAt, waiting } = file
  const isUnreported = report === 'awaited' || report === 'late'
  return {
    status,
    report,
    summary: `${subjectOf(file)} in ${mode} mode: ${standingOf(file)}`,
    closed: dueAt === null && report !== 'late',
    hasNotices: status === 'handed_over' && waiting > 0,
    doubtfulSince: isUnreported && handedOverAt ? handedOverAt.toISOString() : null,
    dueInMs: dueAt && dueAt.getTime() - now.getTime(),
    deadline: dueAt && formatMinute(dueAt),
    signals: [],
  }
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

/** Temporal stores this summary of the run, so it contains no names. */
const subjectOf = ({ payments, totalCents }: FileStatus): string =>
  payments === 0 ? 'File' : `File of ${counted(payments, 'payment')}, ${formatMoney(totalCents)},`

function standingOf({ status, report, rejected }: FileStatus): string {
  if (status !== 'handed_over') return status
  if (report === 'awaited') return 'handed over'
  if (report === 'late') return 'handed over, its report is late'
  const rejections = rejected === 0 ? '' : `, ${counted(rejected, 'payment')} rejected`
  return report === 'received' ? `reported by the bank${rejections}` : `handed over${rejections}`
}

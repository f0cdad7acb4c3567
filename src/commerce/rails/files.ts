import { createHash } from 'node:crypto'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import type { BankFileHandOver, SepaRail } from '../../ports/sepa-rail.ts'
import { bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { sumOf } from '../../values/money.ts'
import type { sepaFileSteps } from './api.ts'
import { paymentsInFile } from './queue.ts'
import { dueAtOf, wakeRun } from './report.ts'
import { SepaFile, sepaFileMachine } from './sepa-file.ts'

type Events<Name extends keyof typeof sepaFileSteps> = (typeof sepaFileSteps)[Name]['emits']

const LEASE_MS = minutes(2)
/** An instant payment has ten seconds. Both steps may be repeated. */
const INSTANT_LEASE_MS = 3_000

const fileEvent = ({ id, messageId, payments }: SepaFile) => ({ fileId: id, messageId, payments })

/** Writes the file at its cut-off. Its content never changes afterwards. */
export async function makePaymentFile(id: string, tx: WriteContext<Events<'make'>>): Promise<void> {
  const { em, sql, now, systems, emit } = tx
  const file = await em.findOne(SepaFile, { id }, FOR_UPDATE)
  if (file?.status !== 'open' || file.closesAt > now) return
  const rail = systems.sepaRail(file.mode)
  bankFolderOf(rail)
  const payments = await paymentsInFile(sql, file.id)
  if (payments.length === 0) {
    file.dueAt = null
    sepaFileMachine.move(file, 'empty')
    return emit('sepa.file_empty', fileEvent(file))
  }
  const { messageId, scheme } = file
  const executeOn = executionDay(file, now)
  const content = rail.message({ messageId, madeAt: now, executeOn, scheme, payments })
  Object.assign(file, {
    content,
    executeOn,
    sha256: createHash('sha256').update(content).digest('hex'),
    payments: payments.length,
    totalCents: sumOf(payments.map(({ amountCents }) => amountCents)),
    madeAt: now,
    dueAt: now,
  })
  sepaFileMachine.move(file, 'made')
  emit('sepa.file_made', fileEvent(file))
}

/** The execution day. It is never in the past, even if the file is written days late. */
function executionDay({ executeOn, scheme }: SepaFile, now: Date): string {
  const today = bankDateOf(now)
  if (today <= executeOn) return executeOn
  return scheme === 'sct_inst' ? today : bankDayOnOrAfter(today)
}

/** Queued payments are never moved to another rail: they wait until `SEPA_RAIL` is `files` again. */
export function bankFolderOf({ files }: SepaRail): BankFileHandOver {
  if (!files)
    throw new Problem('not_configured', 'Payments wait for their file, and SEPA_RAIL is not `files`.')
  return files
}

interface ClaimedFile {
  readonly name: string
  readonly content: string
}

/** No other process takes this step until the lease ends. */
export async function claimFile(
  id: string,
  status: SepaFile['status'],
  { em, now, systems }: WriteContext,
): Promise<ClaimedFile | null> {
  const file = await em.findOne(SepaFile, { id }, FOR_UPDATE)
  if (file?.status !== status || !file.dueAt || file.dueAt > now) return null
  bankFolderOf(systems.sepaRail(file.mode))
  file.dueAt = addMs(now, file.scheme === 'sct_inst' ? INSTANT_LEASE_MS : LEASE_MS)
  return { name: file.fileName, content: String(file.content) }
}

export async function recordStaged(id: string, tx: WriteContext<Events<'stage'>>): Promise<void> {
  const file = await tx.em.findOne(SepaFile, { id }, FOR_UPDATE)
  if (!file || !sepaFileMachine.move(file, 'staged')) return
  file.dueAt = tx.now
  tx.emit('sepa.file_staged', fileEvent(file))
  wakeRun(file, tx)
}

export async function recordHandedOver(id: string, tx: WriteContext<Events<'release'>>): Promise<void> {
  const { em, now, systems, emit } = tx
  const file = await em.findOne(SepaFile, { id }, FOR_UPDATE)
  if (!file || !sepaFileMachine.move(file, 'handed_over')) return
  file.handedOverAt = now
  if (file.report !== 'received') file.reportDueAt = systems.sepaRail(file.mode).reportDueAt(file.scheme, now)
  if (file.reportDueAt) file.report = 'awaited'
  file.dueAt = await dueAtOf(file, tx)
  emit('sepa.file_handed_over', fileEvent(file))
  wakeRun(file, tx)
}

/** The bank may have refused the whole file, or never fetched it: a person must ask. */
export async function sayReportIsLate(id: string, tx: WriteContext<Events<'reportLate'>>): Promise<void> {
  const file = await tx.em.findOne(SepaFile, { id }, FOR_UPDATE)
  if (file?.report !== 'awaited' || !file.reportDueAt || file.reportDueAt > tx.now) return
  file.report = 'late'
  file.dueAt = await dueAtOf(file, tx)
  tx.emit('sepa.report_late', fileEvent(file))
}

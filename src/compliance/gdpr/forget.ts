import {
  closeCustomerForDeletion,
  customerEvent,
  resumeCustomerAfterDeletion,
  suspendCustomerForDeletion,
} from '../../identity/customers/index.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { closeAllWallets } from '../../money/wallets/index.ts'
import { addMs, days, minutes } from '../../values/clock.ts'
import { keysOf } from '../../values/collections.ts'
import { formatMinute } from '../../values/minute.ts'
import { legalGrounds, type RetentionGround } from '../../values/personal.ts'
import { countRecordsByTable } from './count-records.ts'
import { Deletion, dataDeletionMachine, type RetainedRecords } from './deletion.ts'
import type { dataDeletionSteps } from './deletion-api.ts'
import { deletionEvent, deletionSubject, wakeDeletion } from './deletions.ts'
import { findDeletionBlockers } from './obstacles.ts'
import { type DataSubject, type SubjectTable, subjectTables } from './tables-of-subject.ts'

type Advancing = WriteContext<(typeof dataDeletionSteps.advance)['emits']>

const MOST = 10_000
/** How often the obstacles are checked again. When a test clock is advanced by a year, it stops at each check. */
const RECHECK_MS = { live: minutes(60), test: days(1) }
/** A key used a moment ago is trusted for a second. What such a request started is visible after this long. */
const QUIET_MS = 5_000

/**
 * A last pass finds rows that were still being written when the previous one ended, such as the sums of the
 * last payments.
 */
const LAST_PASS_MS = days(1)

const FORGET = 'select records, state from forget_next($1, $2, $3, $4, $5)'

interface Forgotten extends Row {
  readonly records: number
  readonly state: 'more' | 'unsealed' | 'done'
}

async function forget({ id }: Deletion, { sql, tenant, now }: ReadContext) {
  const [done] = await sql<Forgotten>(FORGET, [tenant.ownerId, tenant.mode, id, now, MOST])
  if (!done) throw new Error('forget_next gives one row')
  return done
}

async function moveAccount(move: typeof suspendCustomerForDeletion, context: Advancing): Promise<boolean> {
  const { customer, isChanged } = await move(context)
  if (isChanged) context.emit('customer.updated', { ...customerEvent(customer), changed: ['status'] })
  return isChanged
}

async function hasNoObstacles(found: Deletion, context: Advancing): Promise<boolean> {
  const waitsFor = await findDeletionBlockers(deletionSubject(found), context)
  found.waitsFor = waitsFor
  if (waitsFor.length === 0) return true
  if (found.status === 'ending' && found.subjectType === 'owner')
    await moveAccount(resumeCustomerAfterDeletion, context)
  dataDeletionMachine.move(found, 'waiting')
  found.dueAt = addMs(context.now, RECHECK_MS[context.tenant.mode])
  return false
}

/**
 * Suspends the account before the second check, so that nothing comes in meanwhile, and then closes its
 * wallets. An account that the operator suspended, before or meanwhile, stays suspended even if an obstacle
 * appears.
 */
async function beginForgetting(found: Deletion, context: Advancing): Promise<void> {
  if (!(await hasNoObstacles(found, context))) return
  const isFirstLook = dataDeletionMachine.move(found, 'ending')
  if (found.subjectType === 'owner') {
    const isSuspended = await moveAccount(suspendCustomerForDeletion, context)
    if (isSuspended || isFirstLook) {
      found.dueAt = addMs(context.now, QUIET_MS)
      return
    }
    // Money has come in since the check: the next check, at once, finds it.
    if (!(await closeAllWallets(context))) {
      found.dueAt = addMs(context.now, 1)
      return
    }
    await moveAccount(closeCustomerForDeletion, context)
  }
  dataDeletionMachine.move(found, 'forgetting')
  found.dueAt = addMs(context.now, 1)
}

/** Forgets page by page, and waits where an entry of the trail is not sealed yet. */
async function forgetNextPage(found: Deletion, context: Advancing): Promise<void> {
  const { now, emit } = context
  const { records, state } = await forget(found, context)
  found.records += BigInt(records)
  if (state === 'unsealed') return
  found.dueAt = addMs(now, 1)
  if (state === 'more') return
  const kept = await retainedOf(deletionSubject(found), found.firstCompletedAt ?? now, context)
  dataDeletionMachine.move(found, 'completed')
  Object.assign(found, { kept, completedAt: now })
  found.dueAt = found.subjectType === 'owner' ? addMs(now, LAST_PASS_MS) : nextEnd(found, now)
  emit('gdpr.deletion_completed', deletionEvent(found))
}

/**
 * The end of the next retention period. For an account every period counts, even if nothing is kept by it: a
 * credit to a closed wallet years later names its payer.
 */
function nextEnd({ subjectType, kept, firstCompletedAt, completedAt }: Deletion, now: Date): Date | null {
  const all = subjectType === 'owner' ? keysOf(legalGrounds) : []
  const ends = [
    ...kept.map(({ until }) => Date.parse(until)),
    ...all.map(ground => endOf(ground, firstCompletedAt ?? completedAt ?? now).getTime()),
  ].filter(end => end > now.getTime())
  return ends.length === 0 ? null : new Date(Math.min(...ends))
}

/** Removes records whose retention has ended, and records that were written since the last pass. */
async function removeExpired(found: Deletion, context: Advancing): Promise<void> {
  const { now } = context
  const { records, state } = await forget(found, context)
  found.records += BigInt(records)
  if (state !== 'unsealed') found.dueAt = state === 'more' ? addMs(now, 1) : nextEnd(found, now)
}

/** The next step: check what must end first, close the account, forget a page. */
export async function advanceDataDeletion(id: string, context: Advancing): Promise<void> {
  const { em, now } = context
  const found = await em.findOne(Deletion, { id }, FOR_UPDATE)
  if (!found?.dueAt || found.dueAt > now) return
  // Its run has ended, so the sweep removes the retained records.
  if (found.status === 'completed') return removeExpired(found, context)
  if (found.status === 'forgetting') await forgetNextPage(found, context)
  else await beginForgetting(found, context)
  wakeDeletion(found, context)
}

const isOver = (status: Deletion['status']): boolean => status === 'completed' || status === 'cancelled'

/** What the run of a deletion reads. */
export async function dataDeletionStatus(id: string, { em, now }: ReadContext) {
  const found = await em.findOne(Deletion, { id })
  if (!found) return undefined
  const { mode, status, dueAt, subjectType, waitsFor, records } = found
  const dueInMs = isOver(status) || !dueAt ? null : dueAt.getTime() - now.getTime()
  return {
    status,
    summary: `Deletion of a subject (${subjectType}) in ${mode} mode: ${status}`,
    closed: isOver(status),
    dueInMs,
    deadline: dueAt && formatMinute(dueAt),
    obstacles: waitsFor.map(obstacle => obstacle.id),
    // Each page moves it, so that the next one follows at once.
    forgotten: Number(records),
    signals: [],
  }
}

/** Retention counts from the end of the calendar year, so records are removed at the beginning of a year. */
const endOf = (ground: RetentionGround, completedAt: Date): Date =>
  new Date(Date.UTC(completedAt.getUTCFullYear() + legalGrounds[ground].years + 1, 0, 1))

const groundsOf = ({ table }: SubjectTable): RetentionGround[] => [
  ...new Set(Object.values(table.personal).map(({ ground }) => ground)),
]

function retainedIn(table: SubjectTable): SubjectTable {
  const { ofSubject, table: entry } = table
  const kept = entry.keptWhile?.where && `(${entry.keptWhile.where})`
  return kept ? { ...table, ofSubject: ofSubject === null ? kept : `${ofSubject} and ${kept}` } : table
}

async function retainedOf(subject: DataSubject, at: Date, context: ReadContext): Promise<RetainedRecords[]> {
  const tables = subjectTables(context.service.personalAreas(), subject)
    .filter(table => groundsOf(table).some(ground => legalGrounds[ground].years > 0))
    .map(retainedIn)
  const counts = await countRecordsByTable(tables, subject, context)
  const found = tables.flatMap((table, place) => {
    const records = counts[place] ?? 0
    return records > 0 ? groundsOf(table).map(ground => ({ ground, records, table })) : []
  })
  return keysOf(legalGrounds).flatMap(ground => {
    const own = found.filter(one => one.ground === ground)
    if (own.length === 0 || legalGrounds[ground].years === 0) return []
    const areas = [...new Set(own.map(({ table }) => table.area.name))]
    const records = own.reduce((sum, one) => sum + one.records, 0)
    return [{ ground, records, areas, until: endOf(ground, at).toISOString() }]
  })
}

import {
  closeForDeletion,
  customerEvent,
  resumeAfterDeletion,
  suspendForDeletion,
} from '../../identity/customers/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { closeAllWallets } from '../../money/wallets/index.ts'
import { after, days, minuteInWords, minutes } from '../../values/clock.ts'
import { keysOf } from '../../values/collections.ts'
import { type Ground, legalGrounds } from '../../values/personal.ts'
import { countsOf } from './count-records.ts'
import { Deletion, deletionMachine, type Kept } from './deletion.ts'
import type { deletionSteps } from './deletion-api.ts'
import { deletionData, subjectOf, wakeDeletion } from './deletions.ts'
import { obstaclesTo } from './obstacles.ts'
import { type Subject, type TableOfSubject, tablesOf } from './tables-of-subject.ts'

type Advancing = ContextOf<typeof deletionSteps.advanceDeletion>

/** How many records are changed in one transaction. */
const MOST = 10_000
/** How often it is looked whether what must end first has ended. A test clock that is moved by a year stops at each look. */
const LOOK_AGAIN_MS = { live: minutes(60), test: days(1) }
/** A key that was used a moment ago is trusted for a second. What it has begun is found after this long. */
const STILL_MS = 5_000

/** What was on its way into a table when the last pass ended, as are the sums of the last payments, is looked for once more. */
const ONCE_MORE_MS = days(1)

const FORGET = 'select records, state from forget_next($1, $2, $3, $4, $5)'

/** What one go has done: there is more, an entry of the trail is not sealed yet, or nothing is left. */
interface Forgotten extends Row {
  readonly records: number
  readonly state: 'more' | 'unsealed' | 'done'
}

async function forget({ id }: Deletion, { sql, tenant, now }: Pick<Context, 'sql' | 'tenant' | 'now'>) {
  const [done] = await sql<Forgotten>(FORGET, [tenant.ownerId, tenant.mode, id, now, MOST])
  if (!done) throw new Error('forget_next gives one row')
  return done
}

/** Suspends the account of an owner, or lets it act again; false where it was so already. */
async function moveAccount(move: typeof suspendForDeletion, context: Advancing): Promise<boolean> {
  const { customer, isChanged } = await move(context)
  if (isChanged) context.emit('customer.updated', { ...customerEvent(customer), changed: ['status'] })
  return isChanged
}

/** Whether nothing must end first; otherwise it is looked at again later. */
async function isFree(found: Deletion, context: Advancing): Promise<boolean> {
  const waitsFor = await obstaclesTo(subjectOf(found), context)
  found.waitsFor = waitsFor
  if (waitsFor.length === 0) return true
  if (found.status === 'ending' && found.subjectType === 'owner')
    await moveAccount(resumeAfterDeletion, context)
  deletionMachine.move(found, 'waiting')
  found.dueAt = after(context.now, LOOK_AGAIN_MS[context.tenant.mode])
  return false
}

/**
 * The account is suspended first and looked at again, so that nothing comes in while it is forgotten; then its wallets are
 * closed, so that nothing comes into them afterwards. One that the operator has suspended, long ago or meanwhile, stays
 * suspended whatever comes up.
 */
async function begin(found: Deletion, context: Advancing): Promise<void> {
  if (!(await isFree(found, context))) return
  const isFirstLook = deletionMachine.move(found, 'ending')
  if (found.subjectType === 'owner') {
    const isSuspended = await moveAccount(suspendForDeletion, context)
    if (isSuspended || isFirstLook) {
      found.dueAt = after(context.now, STILL_MS)
      return
    }
    // Money has come in since it was looked: the next look, at once, finds it.
    if (!(await closeAllWallets(context))) {
      found.dueAt = after(context.now, 1)
      return
    }
    await moveAccount(closeForDeletion, context)
  }
  deletionMachine.move(found, 'forgetting')
  found.dueAt = after(context.now, 1)
}

/** Forgets page by page; where an entry of the trail is not sealed yet, it goes on once it is. */
async function goOn(found: Deletion, context: Advancing): Promise<void> {
  const { now, emit } = context
  const { records, state } = await forget(found, context)
  found.records += BigInt(records)
  if (state === 'unsealed') return
  found.dueAt = after(now, 1)
  if (state === 'more') return
  const kept = await keptOf(subjectOf(found), found.firstCompletedAt ?? now, context)
  deletionMachine.move(found, 'completed')
  Object.assign(found, { kept, completedAt: now })
  found.dueAt = found.subjectType === 'owner' ? after(now, ONCE_MORE_MS) : nextEnd(found, now)
  emit('gdpr.deletion_completed', deletionData(found))
}

/**
 * When the law next lets go of something. For an account that is each of its terms, also where nothing is kept by it: a credit
 * that comes for a closed wallet years later names who has sent it.
 */
function nextEnd({ subjectType, kept, firstCompletedAt, completedAt }: Deletion, now: Date): Date | null {
  const all = subjectType === 'owner' ? keysOf(legalGrounds) : []
  const ends = [
    ...kept.map(({ until }) => Date.parse(until)),
    ...all.map(ground => endOf(ground, firstCompletedAt ?? completedAt ?? now).getTime()),
  ].filter(end => end > now.getTime())
  return ends.length === 0 ? null : new Date(Math.min(...ends))
}

/** Removes what the law has kept until now, and what has come into a table since the last pass. */
async function letGo(found: Deletion, context: Advancing): Promise<void> {
  const { now } = context
  const { records, state } = await forget(found, context)
  found.records += BigInt(records)
  if (state !== 'unsealed') found.dueAt = state === 'more' ? after(now, 1) : nextEnd(found, now)
}

export const advanceDeletion: HandlerOf<typeof deletionSteps.advanceDeletion> = async (
  { params },
  context,
) => {
  const { records, now, refuse } = context
  const found = await records.lock(Deletion, params.id)
  if (!found) return refuse('deletion_not_found')
  if (!found.dueAt || found.dueAt > now) return { done: true }
  // Its run has ended: what the law has kept goes without one.
  if (found.status === 'completed') {
    await letGo(found, context)
    return { done: true }
  }
  if (found.status === 'forgetting') await goOn(found, context)
  else await begin(found, context)
  wakeDeletion(found, context)
  return { done: true }
}

const isOver = (status: Deletion['status']): boolean => status === 'completed' || status === 'cancelled'

function waitInWords({ status, dueAt, waitsFor }: Deletion): string | null {
  if (isOver(status) || !dueAt) return null
  if (status === 'requested')
    return `for the days in which it can be cancelled, until ${minuteInWords(dueAt)}`
  return status === 'waiting'
    ? `for ${waitsFor.length} records to end: ${waitsFor.map(({ id }) => id).join(', ')}`
    : 'for the next step'
}

export const deletionStatus: HandlerOf<typeof deletionSteps.deletionStatus> = async (
  { params },
  { records, now, refuse },
) => {
  const found = await records.findOne(Deletion, { id: params.id })
  if (!found) return refuse('deletion_not_found')
  const { mode, status, dueAt, subjectType } = found
  return {
    status,
    summary: `Deletion of a subject (${subjectType}) in ${mode} mode: ${status}`,
    closed: isOver(status),
    dueInMs: isOver(status) || !dueAt ? null : dueAt.getTime() - now.getTime(),
    waitsFor: waitInWords(found),
    signals: [],
  }
}

/** Terms run from the end of the calendar year, so what is kept is removed with the beginning of another one. */
const endOf = (ground: Ground, completedAt: Date): Date =>
  new Date(Date.UTC(completedAt.getUTCFullYear() + legalGrounds[ground].years + 1, 0, 1))

const groundsOf = ({ table }: TableOfSubject): Ground[] => [
  ...new Set(Object.values(table.personal).map(({ ground }) => ground)),
]

/** The records of the table that the law has kept: of those about the subject, the ones that its condition is true of. */
function keptIn(table: TableOfSubject): TableOfSubject {
  const { ofSubject, table: entry } = table
  const kept = entry.keptWhile && `(${entry.keptWhile.where})`
  return kept ? { ...table, ofSubject: ofSubject === null ? kept : `${ofSubject} and ${kept}` } : table
}

type Asking = Pick<Context, 'sql' | 'tenant' | 'ports'>

/** What the law keeps about the subject, by ground: the records, their areas, and when they are removed. */
async function keptOf(subject: Subject, at: Date, context: Asking): Promise<Kept[]> {
  const tables = tablesOf(context.ports.personalAreas(), subject)
    .filter(table => groundsOf(table).some(ground => legalGrounds[ground].years > 0))
    .map(keptIn)
  const counts = await countsOf(tables, subject, context)
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

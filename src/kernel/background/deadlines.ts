import { addMs, clock } from '../../values/clock.ts'
import { type Mode, processActor, type Tenant } from '../contract/actor.ts'
import { type Areas, allOperations } from '../contract/area.ts'
import { type ClockWaitingRecords, type Deadline, WITHOUT_RUN } from '../contract/deadline.ts'
import { callsOutside, type RegisteredOperation } from '../contract/operation.ts'
import { type ProcessRecord, workflowIdOf } from '../contract/process.ts'
import type { Row, Sql } from '../contract/sql.ts'
import { type BindActivities, type RecordActivity, type Step, stepOperation } from '../contract/step.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { databaseErrorAsProblem, withDatabaseRetries } from '../database/retry.ts'
import { moveClockOffset, readClockOffset } from '../database/tenant-clock.ts'
import { emptyJournal, type OutboxRow, writeJournal } from '../journal/journal.ts'
import { buildWakeUpRow } from '../journal/journal-rows.ts'
import { findLastRequest } from '../journal/last-request.ts'
import type { ExecuteCall } from '../run/execute.ts'
import { type CalledSystem, calledSystemOf, type SystemTurns } from '../run/system-turns.ts'
import type { CallsBeside } from './calls-beside.ts'

interface Overdue extends Record<string, unknown> {
  readonly id: string
  readonly owner_id: string
  readonly mode: Mode
  readonly due: Date
  /** Its run should have ended it. */
  readonly has_run: boolean
}

/** What the sweep carried out in place of a run that was late. */
export interface Rescue extends Tenant {
  readonly operation: string
  readonly id: string
  readonly dueAt: Date
}

const BATCH_SIZE = 1_000
/** Records ended at once. More would only time out waiting for connections. */
const CONCURRENCY = 64

interface SearchedTime {
  readonly whose: (table: string) => string
  readonly until: string
}

interface SearchBounds {
  readonly most: number
  /** How long a record is left to its run. */
  readonly rescueAfterMs: number
  /** A further condition. */
  readonly except?: string
}

/** Walks the index over open records in its order, so records that are not due yet cost nothing. */
const firstOf = (
  deadline: Required<Deadline>,
  { whose, until }: SearchedTime,
  { most, rescueAfterMs, except = '' }: SearchBounds,
): string => {
  const { table, record, due, open, waits } = deadline
  return `
cross join lateral (
  select ${record} as id, owner_id, mode, ${due} as due, (${waits}) as has_run from ${table}
  where ${open} and ${whose(table)} and ${due} <= ${until}${leftToRun(deadline, until, rescueAfterMs)}${except}
  order by ${due} limit ${most}) as first`
}

/** Its run has time from the later of the two: when it is due, and when that could be known. */
const leftToRun = (
  { due, known, waits, rescueAfterMs }: Required<Deadline>,
  until: string,
  mostMs: number,
): string =>
  waits === WITHOUT_RUN
    ? ''
    : `
    and (not (${waits}) or greatest(${due}, ${known}) <= ${until} - least(${rescueAfterMs}, ${mostMs}) * interval '1 millisecond')`

const IN_REAL_TIME = { whose: (table: string) => `${table}.mode = each.mode`, until: 'now()' }
const BY_TEST_CLOCK = {
  whose: (table: string) => `(${table}.owner_id, ${table}.mode) = (c.owner_id, c.mode)`,
  until: "now() + c.offset_ms * interval '1 millisecond'",
}

/** Overdue by real time, or by the time of a tenant whose test clock is ahead. No clock is ever behind real time. */
const anyOf = (deadline: Required<Deadline>, bounds: SearchBounds): string => `
  select first.* from unnest(array['test', 'live']) as each (mode) ${firstOf(deadline, IN_REAL_TIME, bounds)}
  union all
  select first.* from tenant_clocks c ${firstOf(deadline, BY_TEST_CLOCK, bounds)}`

const overdueOf =
  (rescueAfterMs: number) =>
  (deadline: Required<Deadline>): string =>
    `
select distinct id, owner_id, mode, due, has_run from (${anyOf(deadline, {
      most: BATCH_SIZE,
      rescueAfterMs,
      except: " and owner_id || ' ' || mode <> all($1::text[])",
    })}
) as overdue order by due, id limit ${BATCH_SIZE}`

/** One statement tells which deadlines have an overdue record, so that an idle sweep asks once. */
const anyOverdue = (bounds: readonly BoundDeadline[], rescueAfterMs: number): string =>
  bounds
    .map(
      ({ deadline }, place) =>
        `select ${place} as place where exists (${anyOf(deadline, { most: 1, rescueAfterMs })})`,
    )
    .join(' union all ')

const overdueOfTenant = ({ table, record, due, open }: Required<Deadline>): string => `
select ${record} as id, owner_id, mode, ${due} as due, false as has_run from ${table}
where owner_id = $1 and mode = $2 and ${open} and ${due} <= $3 order by ${due}, id limit ${BATCH_SIZE}`

/** One statement tells which deadlines have an overdue record of a tenant: a clock stops at many instants. */
const dueOf = (bounds: readonly BoundDeadline[]): string =>
  bounds
    .map(
      ({ deadline: { table, due, open } }, place) => `
select ${place} as place where exists (
  select from ${table} where owner_id = $1 and mode = $2 and ${open} and ${due} <= $3)`,
    )
    .join(' union all ')

const dueBetween = ({ table, due, open }: Required<Deadline>): string =>
  `from ${table} where owner_id = $1 and mode = $2 and ${open} and ${due} > $3 and ${due} <= $4`

/** The first instant of each deadline on the way, in their order. */
const nextOf = (bounds: readonly BoundDeadline[]): string => `
select place, at from (${bounds
  .map(
    ({ deadline }, place) => `select ${place} as place, min(${deadline.due}) as at ${dueBetween(deadline)}`,
  )
  .join(' union all ')}) as first where at is not null order by at`

const lastOf = (deadline: Required<Deadline>): string =>
  `select max(${deadline.due}) as at ${dueBetween(deadline)}`

const waitingOf = ({ table, record, agent, open, waits }: ClockWaitingRecords): string => `
select ${record} as id, ${agent} as "agentId" from ${table}
where owner_id = $1 and mode = $2 and ${open} and ${waits}`

interface Parts {
  readonly database: Database
  readonly execute: ExecuteCall
  readonly areas: Areas
  readonly activities: BindActivities
}

interface EndingParts extends Parts, Pick<SweepParts, 'calls'> {
  readonly onChange: (operation: RegisteredOperation, record: Overdue) => void
}

interface BoundDeadline {
  readonly deadline: Required<Deadline>
  readonly steps: readonly BoundStep[]
}

/** An activity of a run, or an operation of the service itself. */
interface BoundStep {
  /** The operation that calls another system; undefined where it calls none. */
  readonly call: RegisteredOperation | undefined
  /** Gives whether it has changed something. */
  carryOut(parts: EndingParts, deadline: Required<Deadline>, record: Overdue): Promise<boolean>
}

function deadlinesOf({ areas, activities }: Parts): BoundDeadline[] {
  const operations = new Map(allOperations(areas).map(operation => [operation.key, operation]))
  const known = activities({ requestIdOf: ({ id }) => id })
  return Object.values(areas).flatMap(area =>
    area.deadlines.map(deadline => ({
      deadline,
      steps: [
        ...deadline.activities.map(name => activityStep(name, known[name] as RecordActivity | undefined)),
        ...deadline.operations.map(key => operationStep(operations.get(key) as RegisteredOperation)),
      ],
    })),
  )
}

function activityStep(name: string, known: RecordActivity | undefined): BoundStep {
  if (!known) throw new Error(`there is no activity ${name}`)
  return {
    call: known.calls && stepOperation(known.calls),
    async carryOut({ activities, onChange }, { process }, record) {
      const changed = new Set<Step>()
      const bound = activities({
        requestIdOf: ({ id }) => `deadline:${workflowIdOf(process, id)}`,
        onChange: step => void changed.add(step),
      })
      const { id, owner_id: ownerId, mode } = record
      await (bound[name] as RecordActivity)({ id, ownerId, mode })
      for (const step of changed) onChange(stepOperation(step), record)
      return changed.size > 0
    },
  }
}

const operationStep = (operation: RegisteredOperation): BoundStep => ({
  call: callsOutside(operation.operation) ? operation : undefined,
  async carryOut({ database, execute, onChange }, { process }, record) {
    const { id, owner_id, mode } = record
    const tenant = { ownerId: owner_id, mode }
    const last = await findLastRequest(sqlOn(database.pool), tenant, id)
    const { hasEmitted = false } = await execute({
      operation,
      actor: processActor(tenant),
      input: { params: { id }, query: {}, body: {} },
      requestId: last?.requestId ?? `deadline:${workflowIdOf(process, id)}`,
      traceparent: last?.traceparent ?? undefined,
      address: null,
      idempotencyKey: null,
    })
    // An operation that finds nothing left to do rescues nothing.
    if (!hasEmitted) return false
    onChange(operation, record)
    return true
  },
})

export interface SweepParts extends Parts {
  /** How long a due record with a run is left to it, unless its deadline says less: the run acts first. */
  readonly rescueAfterMs: number
  readonly onRescue: (rescue: Rescue) => void
  /** Turns of the calls by runs in this process. What waits for its turn is late, and yet in the hands of its run. */
  readonly turns?: Pick<SystemTurns, 'isAwaited'>
  /** Calls to other systems run there. Without it the sweep waits for them. */
  readonly calls?: CallsBeside
}

/** Ends what has no run, and rescues what a run should have ended. */
export async function endOverdueRecords({
  rescueAfterMs,
  onRescue,
  turns,
  ...parts
}: SweepParts): Promise<void> {
  const bounds = deadlinesOf(parts)
  const onChange: EndingParts['onChange'] = (operation, record) => {
    const { id, owner_id: ownerId, mode, due: dueAt, has_run } = record
    const isAwaited = callsOutside(operation.operation) && turns?.isAwaited(calledBy(operation, record))
    if (has_run && !isAwaited) onRescue({ ownerId, mode, operation: operation.key, id, dueAt })
  }
  const failures = await endEach({ ...parts, onChange }, bounds, {
    find: { text: anyOverdue(bounds, rescueAfterMs), values: [] },
    select: overdueOf(rescueAfterMs),
    valuesOf: ({ steps }) => [fullOwnersOf(steps, parts.calls)],
  })
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} could not be ended`)
}

const fullOwnersOf = (steps: readonly BoundStep[], calls: CallsBeside | undefined): string[] => {
  const call = steps.find(step => step.call)?.call
  return call && calls ? calls.fullOwners(calledSystemOf(call)) : []
}

/** Tries each record once, so that a failing record delays no others. Returns the failures. */
async function endAll(
  parts: EndingParts,
  bound: BoundDeadline,
  { select, valuesOf }: Pick<Search, 'select' | 'valuesOf'>,
): Promise<unknown[]> {
  const sql = sqlOn(parts.database.pool)
  const tried = new Set<string>()
  const failures: unknown[] = []
  const tryToEnd = (record: Overdue): Promise<void> =>
    end(parts, bound, record).catch((error: unknown) => void failures.push(error))
  const text = select(bound.deadline)
  for (;;) {
    const overdue = await sql<Overdue>(text, valuesOf(bound))
    const untried = overdue.filter(({ id }) => !tried.has(id))
    for (const { id } of untried) tried.add(id)
    for (let first = 0; first < untried.length; first += CONCURRENCY)
      await Promise.all(untried.slice(first, first + CONCURRENCY).map(tryToEnd))
    if (overdue.length < BATCH_SIZE || untried.length === 0) return failures
  }
}

const calledBy = (operation: RegisteredOperation, { owner_id, mode }: Overdue): CalledSystem => ({
  system: calledSystemOf(operation),
  owner: owner_id,
  mode,
})

/** Beside the round goes what begins with a call to another system. */
async function end(parts: EndingParts, bound: BoundDeadline, record: Overdue): Promise<void> {
  const { steps, deadline } = bound
  const { calls } = parts
  const first = steps.findIndex(step => step.call)
  const call = steps[first]?.call
  if (!calls || !call) return carryOutSteps(parts, bound, record)
  await carryOut(parts, { deadline, steps: steps.slice(0, first) }, record)
  const key = `${deadline.due} ${workflowIdOf(deadline.process, record.id)}`
  calls.begin({ key, ...calledBy(call, record) }, () => carryOutSteps(parts, bound, record, first))
}

/** A step that always asks for another one does not hold the round. */
const MOST_STEPS = 20

/**
 * In place of a run it goes on with the steps that follow: each is due once the one before it has ended, and would
 * otherwise be left to the run for another while.
 */
async function carryOutSteps(
  parts: EndingParts,
  { deadline, steps }: BoundDeadline,
  record: Overdue,
  first = 0,
): Promise<void> {
  let rest = steps.slice(first)
  for (let round = 1; round <= MOST_STEPS; round++) {
    const hasChanged = await carryOut(parts, { deadline, steps: rest }, record)
    if (!(hasChanged && record.has_run && (await isStillDue(parts, deadline, record)))) return
    rest = [...steps]
  }
}

const stillDueOf = ({ table, record, due, open }: Required<Deadline>): string => `
select 1 from ${table} where owner_id = $1 and mode = $2 and ${record} = $3 and ${open} and ${due} <= $4`

async function isStillDue(
  { database }: EndingParts,
  deadline: Required<Deadline>,
  { id, owner_id, mode }: Overdue,
): Promise<boolean> {
  const sql = sqlOn(database.pool)
  const now = clock.tenant(await readClockOffset(sql, { ownerId: owner_id, mode }))
  return (await sql(stillDueOf(deadline), [owner_id, mode, id, now])).length > 0
}

/** Carries out the steps in order. Gives whether one of them has changed something. */
async function carryOut(
  parts: EndingParts,
  { deadline, steps }: BoundDeadline,
  record: Overdue,
): Promise<boolean> {
  let hasChanged = false
  for (const step of steps) if (await step.carryOut(parts, deadline, record)) hasChanged = true
  return hasChanged
}

/**
 * Moves a tenant's clock forward to the offset `toMs`, stopping at every deadline on the way, in order.
 * Records that fail to end are ended later by `endOverdueRecords`. A lost or overloaded database is a problem that
 * says so, not a defect.
 */
export const advanceTenantClock = (parts: Parts, tenant: Tenant, toMs: number): Promise<void> =>
  moveThrough(parts, tenant, toMs).catch((error: unknown) => {
    throw databaseErrorAsProblem(error)
  })

/** Alike records that are due within this time are ended at one stop: hundreds of intents were declared in a few seconds. */
const ALIKE_WITHIN_MS = 1_000

/** Finds where the clock stops next: it passes no record of another deadline. */
function stopsOf(bounds: readonly BoundDeadline[], sql: Sql, { ownerId, mode }: Tenant) {
  const text = nextOf(bounds)
  return async (after: Date, end: Date): Promise<Date | undefined> => {
    const [first, other] = await sql<{ place: number; at: Date }>(text, [ownerId, mode, after, end])
    const bound = first && bounds[first.place]
    if (!bound) return undefined
    const until = addMs(first.at, ALIKE_WITHIN_MS)
    const last = [until, end, ...(other ? [addMs(other.at, -1)] : [])].reduce((one, two) =>
      one < two ? one : two,
    )
    if (last <= first.at) return first.at
    const [alike] = await sql<{ at: Date | null }>(lastOf(bound.deadline), [ownerId, mode, after, last])
    return alike?.at ?? first.at
  }
}

async function moveThrough(parts: Parts, tenant: Tenant, toMs: number): Promise<void> {
  const sql = sqlOn(parts.database.pool)
  const bounds = deadlinesOf(parts)
  const nextStop = stopsOf(bounds, sql, tenant)
  const end = clock.tenant(toMs)
  const endAt = (instant: () => Date) => endDue(parts, bounds, tenant, instant)
  const begin = clock.tenant(await readClockOffset(sql, tenant))
  // Ends what is due already at its own time; what follows from it may be due on the way.
  await endAt(() => begin)
  for (let at = await nextStop(begin, end); at; at = await nextStop(at, end)) {
    const stop = at
    await moveClockOffset(sql, tenant, stop.getTime() - clock.milliseconds())
    await endAt(() => stop)
  }
  await moveClockOffset(sql, tenant, toMs)
  // What follows from the last stop is due while it is ended.
  await endAt(() => clock.tenant(toMs))
  await wakeWaiting(sql, parts.areas, tenant)
}

/** A step that always asks for another one does not hold the clock. */
const MOST_ROUNDS_AT_ONE_STOP = 20

/** Ends what is due, and then what follows from it at the same stop. */
async function endDue(
  parts: Parts,
  bounds: readonly BoundDeadline[],
  { ownerId, mode }: Tenant,
  instant: () => Date,
): Promise<void> {
  let hasChanged = true
  const onChange = () => {
    hasChanged = true
  }
  for (let round = 0; hasChanged && round < MOST_ROUNDS_AT_ONE_STOP; round++) {
    hasChanged = false
    const values = [ownerId, mode, instant()]
    await endEach({ ...parts, onChange }, bounds, {
      find: { text: dueOf(bounds), values },
      select: overdueOfTenant,
      valuesOf: () => values,
    })
  }
}

interface Search {
  /** Gives the places of the deadlines that have an overdue record. */
  readonly find: { readonly text: string; readonly values: readonly unknown[] }
  /** The overdue records of one deadline. */
  readonly select: (deadline: Required<Deadline>) => string
  readonly valuesOf: (bound: BoundDeadline) => readonly unknown[]
}

/** Each deadline runs once: ending one may make a record of another due. Returns the failures. */
async function endEach(
  parts: EndingParts,
  bounds: readonly BoundDeadline[],
  { find: { text, values }, ...overdue }: Search,
): Promise<unknown[]> {
  const failures: unknown[] = []
  const done = new Set<number>()
  for (;;) {
    const due = await sqlOn(parts.database.pool)<{ place: number }>(text, values)
    const place = due.map(row => row.place).find(one => !done.has(one))
    const bound = place === undefined ? undefined : bounds[place]
    if (place === undefined || !bound) return failures
    done.add(place)
    failures.push(...(await endAll(parts, bound, overdue)))
  }
}

/** Thousands in one statement would hold the event loop. */
const WAKE_UPS_AT_ONCE = 500

async function wakeWaiting(sql: Sql, areas: Areas, tenant: Tenant): Promise<void> {
  const wakeUps: OutboxRow[] = []
  const write = (rows: readonly OutboxRow[]) => {
    const journal = emptyJournal()
    journal.outbox.push(...rows)
    return withDatabaseRetries(() => writeJournal(sql, journal))
  }
  for (const waiting of Object.values(areas).flatMap(({ deadlines, waits }) => [...deadlines, ...waits])) {
    const records = await sql<ProcessRecord & Row>(waitingOf(waiting), [tenant.ownerId, tenant.mode])
    wakeUps.push(...records.map(record => buildWakeUpRow(waiting.process, tenant, record)))
    while (wakeUps.length > WAKE_UPS_AT_ONCE) await write(wakeUps.splice(0, WAKE_UPS_AT_ONCE))
  }
  await write(wakeUps)
}

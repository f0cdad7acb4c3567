import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import { type ApiCall, tenantKey } from '../contract/call.ts'
import type { LockLanes } from '../contract/handlers.ts'
import { Problem } from '../contract/problem.ts'
import { type BatchResult, batcher } from '../database/batcher.ts'
import { onConnection } from '../database/connection.ts'
import { sqlOfTransaction } from '../database/prepared-sql.ts'
import { type CallInBatch, runBatch } from './batch.ts'
import type { HandlerResult } from './finish-call.ts'
import type { OperationRuntime } from './runtime.ts'
import { inTransaction } from './transaction.ts'

/** How long a lane counts as locked after it was found so. After that its calls join the others again. */
const LOCKED_FOR_MS = 5_000
/** More are not remembered; forgotten ones are found again. */
const MAX_LOCKED = 10_000

class LockedLanes {
  readonly #until = new Map<string, number>()

  add(lanes: readonly string[]): void {
    if (this.#until.size > MAX_LOCKED) this.#until.clear()
    for (const lane of lanes) this.#until.set(lane, clock.ticks() + LOCKED_FOR_MS)
  }

  has(lane: string): boolean {
    const until = this.#until.get(lane)
    if (until === undefined) return false
    if (until > clock.ticks()) return true
    this.#until.delete(lane)
    return false
  }

  delete(lane: string): void {
    this.#until.delete(lane)
  }
}

/** Batches wait for PostgreSQL, which waits for them: a third one keeps both busy while they are small. */
const BATCH = { size: 64, inFlight: 2, spareBelow: 32 }
/** Calls between two steps are with another system: smaller batches keep this process busy while PostgreSQL is. */
const STEPS = { size: 12, inFlight: 1 }
/**
 * How long a batch waits for a locked row. Five earlier batches, of this process and another, may hold the
 * same hot rows. A row locked for longer delays only its own requests: each is then tried unbatched, hardly
 * waiting.
 */
const LOCK_TIMEOUT_MS = { batch: 3_000, single: 10 }

export type RunBatched = (call: CallInBatch) => Promise<HandlerResult>

/** A call joins the next batch of its operation and tenant; one of a locked lane joins a batch of its lane. */
export function batchRunner(runtime: OperationRuntime): RunBatched {
  const locked = new LockedLanes()
  const batched = batcher<CallInBatch, HandlerResult>(BATCH, calls => runInLanes(calls))
  // Steps of one operation lock the same rows: a second batch would wait for the first, and be the smaller
  // for it.
  const steps = batcher<CallInBatch, HandlerResult>(STEPS, calls => runInLanes(calls))
  const run = (call: CallInBatch): Promise<HandlerResult> => {
    const name = batchNameOf(call)
    const lane = lockedLaneOf(call, locked)
    const join = call.part.kind === 'answers' ? batched : steps
    return join(lane === undefined ? name : `${name}|${lane}`, call).catch((error: unknown) => {
      if (error === MOVED.reason) return run(call)
      throw error
    })
  }

  async function runInLanes(calls: readonly CallInBatch[]): Promise<Answer[]> {
    const [first] = calls
    const lanes = first && lanesOf(first)
    if (!first || !lanes) return runOrSplit(runtime, calls)
    if (
      lockedLaneOf(first, locked) !== undefined &&
      calls.every(call => laneOf(lanes, call) === laneOf(lanes, first))
    )
      return runLocked(first, lanes, calls)
    try {
      return await runToEnd(runtime, calls, lanes.sharedTimeoutMs)
    } catch (error) {
      if (!isProblem(error, 'busy')) return runAgain(runtime, calls, error)
      const busy = await lockedAmong(runtime, first, lanes, calls)
      // A row outside the lanes is locked: the batch waits for it.
      if (busy.length === 0) return runOrSplit(runtime, calls)
      locked.add(busy)
      // The others run at once. This batch does not wait for the locked ones, as the queue would wait with
      // it.
      const isLocked = calls.map(call => lockedLaneOf(call, locked) !== undefined)
      const others = await runOrSplit(
        runtime,
        calls.filter((_, n) => !isLocked[n]),
      )
      return isLocked.map(is => (is ? MOVED : (others.shift() as Answer)))
    }
  }

  async function runLocked(
    first: CallInBatch,
    lanes: AnyLanes,
    calls: readonly CallInBatch[],
  ): Promise<Answer[]> {
    try {
      const results = await runToEnd(runtime, calls, lanes.ownTimeoutMs)
      locked.delete(laneOf(lanes, first))
      return results
    } catch (error) {
      return isProblem(error, 'busy') ? rejectAll(calls, error) : runAgain(runtime, calls, error)
    }
  }

  return run
}

type Answer = BatchResult<HandlerResult>

type AnyLanes = LockLanes<unknown>

const lanesOf = ({ part }: CallInBatch): AnyLanes | null => part.handler.lanes ?? null

const laneOf = (lanes: AnyLanes, { part }: CallInBatch): string => lanes.of(part.input)

export const batchNameOf = ({ part, actor }: CallInBatch): string =>
  `${part.name}|${tenantKey(actor.tenant, null)}`

const MOVED = { status: 'rejected', reason: new Error('the lane of the call is locked') } as const

function lockedLaneOf(call: CallInBatch, locked: LockedLanes): string | undefined {
  const lanes = lanesOf(call)
  const lane = lanes ? laneOf(lanes, call) : undefined
  return lane !== undefined && locked.has(lane) ? lane : undefined
}

/** Another batch of this service holds its rows for no longer than these probes take together. */
const PROBES = 3
const BETWEEN_PROBES_MS = 20

/** The lanes that stay locked through all probes. If none does, nothing is locked now. */
async function lockedAmong(
  { database }: OperationRuntime,
  { actor: { tenant } }: ApiCall,
  lanes: AnyLanes,
  calls: readonly CallInBatch[],
): Promise<string[]> {
  let left = [...new Set(calls.map(call => laneOf(lanes, call)))]
  if (!tenant) return left
  for (let probe = 0; probe < PROBES && left.length > 0; probe++) {
    if (probe > 0) await pause(BETWEEN_PROBES_MS)
    const free = await onConnection(database, 'begin', async client => {
      const found = await lanes.free(left, tenant, sqlOfTransaction(client))
      await client.query('rollback')
      return new Set(found)
    })
    left = left.filter(lane => !free.has(lane))
  }
  return left
}

const isProblem = (error: unknown, code: Problem['code']): boolean =>
  error instanceof Problem && error.code === code

const rejectAll = (calls: readonly CallInBatch[], reason: unknown): Answer[] =>
  calls.map(() => ({ status: 'rejected', reason }))

/** What may be committed already is not decided again. */
const runAgain = async (
  runtime: OperationRuntime,
  calls: readonly CallInBatch[],
  error: unknown,
): Promise<Answer[]> =>
  isProblem(error, 'outcome_unknown') ? rejectAll(calls, error) : runOrSplit(runtime, calls)

/** Runs the calls in one transaction; if one makes it fail, each in a transaction of its own. */
async function runOrSplit(
  runtime: OperationRuntime,
  calls: readonly CallInBatch[],
  lockTimeoutMs = LOCK_TIMEOUT_MS.batch,
): Promise<Answer[]> {
  if (calls.length === 0) return []
  try {
    return await runToEnd(runtime, calls, lockTimeoutMs)
  } catch (error) {
    const failsForAll =
      error instanceof Problem && error.code !== 'busy' && error.code !== 'unknown_reference'
    if (calls.length === 1 || failsForAll) return rejectAll(calls, error)
    return oneByOne(runtime, calls)
  }
}

/** One after another, so that a failing batch takes no more connections than a healthy one. */
async function oneByOne(runtime: OperationRuntime, calls: readonly CallInBatch[]): Promise<Answer[]> {
  const results: Answer[] = []
  for (const call of calls) results.push(...(await runOrSplit(runtime, [call], LOCK_TIMEOUT_MS.single)))
  return results
}

const runToEnd = (
  runtime: OperationRuntime,
  calls: readonly CallInBatch[],
  lockTimeoutMs: number,
): Promise<Answer[]> => {
  const { name = '', kind } = calls[0]?.part ?? {}
  const onCommit = (statements: number) => runtime.onBatch(name, calls.length, statements)
  const whenLocked = kind === 'records' ? 'wait' : 'refuse'
  return inTransaction(runtime, calls, { whenLocked, lockTimeoutMs, onCommit }, (tx, opened) =>
    runBatch(runtime, opened, tx),
  )
}

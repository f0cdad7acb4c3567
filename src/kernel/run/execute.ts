import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import type { ApiCall, ApiResponse } from '../contract/call.ts'
import { type ByteStream, isStreamedContent } from '../contract/file.ts'
import { isWritingOperation, type RunMode } from '../contract/operation.ts'
import type { Database } from '../database/prepared-sql.ts'
import { databaseErrorAsProblem } from '../database/retry.ts'
import { SessionLocks } from '../database/session-locks.ts'
import { hotCallInBatch } from './batch.ts'
import { runExternal } from './external-call.ts'
import { requireOutcome } from './finish-call.ts'
import { batchRunner } from './group-commit.ts'
import { hotExternalRunner } from './hot-external.ts'
import { callOnce, OwnerQueue, type OwnerQueueLimits, rateLimitedProblem } from './owner-queue.ts'
import { runInOwnTransaction, runRead } from './plain.ts'
import type { OperationRuntime } from './runtime.ts'
import { inSpanOfOperation } from './spans.ts'
import { inTurns } from './turns.ts'

export type ExecuteCall = (call: ApiCall) => Promise<ApiResponse>

/** Runs a valid call to its outcome: for the API, the activities of workflows and the start-up alike. */
export function createExecutor(runtime: OperationRuntime): ExecuteCall {
  const runBatched = batchRunner(runtime)
  const executeByRun: Record<RunMode, ExecuteCall> = {
    plain: call => runInOwnTransaction(runtime, call),
    read: call => runRead(runtime, call),
    hot: async call => requireOutcome(await runBatched(hotCallInBatch(call))),
    external: call => runExternal(runtime, call),
    'hot-external': hotExternalRunner(runtime, runBatched),
  }
  const runOf = (call: ApiCall): RunMode => call.operation.operation.run ?? 'plain'
  const isWrite = ({ operation }: ApiCall): boolean => isWritingOperation(operation.operation)
  const run: ExecuteCall = call => (isWrite(call) ? executeByRun[runOf(call)](call) : runRead(runtime, call))
  const here = serializedByOwner(runtime.database, run)
  // A thread takes the turns across processes itself.
  const readCostly: ExecuteCall = async call => (await runtime.reader?.read(call)) ?? here(call)
  return inSpanOfOperation(runtime, inTurns(here, { readCostly }))
}

const WAIT_MS = 10_000
const LIMITS: OwnerQueueLimits = {
  atOnceOfOne: 1,
  atOnce: 64,
  waitingOfOne: 10,
  waiting: 500,
  waitMs: WAIT_MS,
}
const ASK_EVERY_MS = 100

/**
 * Runs operations whose limits say `oneAtATime` one at a time for each owner, across all processes. A
 * streamed answer keeps its turn until its last piece is sent. The service's own work needs no turn.
 */
export function serializedByOwner(database: Database, execute: ExecuteCall): ExecuteCall {
  const queue = new OwnerQueue(LIMITS)
  const locks = new SessionLocks(database)

  async function take(owner: string): Promise<() => void> {
    const latest = clock.ticks() + WAIT_MS
    const leave = await queue.acquire(owner)
    const name = `turn ${owner}`
    try {
      while (!(await locks.tryLock(name))) {
        if (clock.ticks() > latest) throw rateLimitedProblem(WAITED)
        await pause(ASK_EVERY_MS)
      }
    } catch (error) {
      leave()
      throw databaseErrorAsProblem(error)
    }
    return callOnce(() => void locks.end(name).finally(leave))
  }

  return async call => {
    const { tenant, type } = call.actor
    if (!call.operation.operation.limits?.oneAtATime || !tenant || type === 'process') return execute(call)
    const end = await take(tenant.ownerId)
    try {
      const outcome = await execute(call)
      const { body } = outcome
      if (body !== null && isStreamedContent(body)) return { ...outcome, body: endingWith(body, end) }
      end()
      return outcome
    } catch (error) {
      end()
      throw error
    }
  }
}

const WAITED = `Another expensive request of yours is still running after ${WAIT_MS / 1_000} seconds. Send this one after its answer.`

/** Calls `end` after the last piece, also where the reader leaves before the first. */
function endingWith(body: ByteStream, end: () => void): ByteStream {
  return {
    [Symbol.asyncIterator]() {
      const pieces = body[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const next = await pieces.next()
            if (next.done) end()
            return next
          } catch (error) {
            end()
            throw error
          }
        },
        async return() {
          try {
            await pieces.return?.()
          } finally {
            end()
          }
          return { done: true, value: undefined }
        },
      }
    },
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import type { ApiCall } from '../contract/call.ts'
import { Problem } from '../contract/problem.ts'
import { onConnection, UnknownCommitOutcome } from '../database/connection.ts'
import { commandInPipeline } from '../database/pipeline.ts'
import { sqlOfTransaction } from '../database/prepared-sql.ts'
import { databaseErrorAsProblem } from '../database/retry.ts'
import { MAX_CALL_MS, markLeft, scopedIdempotencyKey } from '../journal/idempotency.ts'
import type { OperationRuntime } from './runtime.ts'

const AGAIN_MS = 500
const BEGIN = ['begin', "set local lock_timeout = '3s'"]

const LOST: ReadonlySet<unknown> = new Set(['unavailable', 'busy', 'outcome_unknown'])

const isOfDatabase = (error: unknown): boolean => error instanceof Problem && LOST.has(error.code)

/**
 * Whether a request that fails so leaves what it has reserved, as no outcome is recorded for it. Its first commit may have
 * arrived, too. Of a defect too little is known.
 */
export const isLeftBy = (error: unknown, hasReserved: boolean): boolean =>
  hasReserved ? isOfDatabase(databaseErrorAsProblem(error)) : error instanceof UnknownCommitOutcome

/**
 * Lets the next request with the key decide the call at once, as after a crash. On another connection, and while the
 * database is away again and again, for as long as the call would count as under way.
 */
export async function leaveCall({ database }: OperationRuntime, call: ApiCall): Promise<void> {
  const key = scopedIdempotencyKey(call)
  const { reservedBy } = call
  if (!key || !reservedBy) return
  const latest = clock.ticks() + MAX_CALL_MS
  const mark = () =>
    onConnection(database, BEGIN, async client => {
      await markLeft(key, reservedBy, sqlOfTransaction(client))
      await commandInPipeline(client, () => 'commit')
    })
  for (;;) {
    const failure = await mark().then(() => undefined, databaseErrorAsProblem)
    if (!isOfDatabase(failure) || clock.ticks() > latest) return
    await pause(AGAIN_MS, undefined, { ref: false })
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../kernel/database/prepared-sql.ts'
import { LEASE_RENEWAL_MS, ProcessLeases } from '../kernel/database/process-lease.ts'
import type { OperationRuntime } from '../kernel/run/runtime.ts'
import { UnrecordedAnswers } from '../kernel/run/unrecorded-answers.ts'
import type { Logger } from '../platform/log.ts'
import { repeatEvery } from '../platform/rounds.ts'
import { clock } from '../values/clock.ts'

export interface RenewedLeases {
  readonly leases: ProcessLeases
  stop(): Promise<void>
}

export function renewedLeases(database: Database, onFailure: (error: unknown) => void): RenewedLeases {
  const leases = new ProcessLeases(database)
  const renewal = repeatEvery(LEASE_RENEWAL_MS, () => leases.round(), onFailure)
  return {
    leases,
    async stop() {
      await renewal.stop()
      await leases.end().catch(onFailure)
    },
  }
}

interface ExternalCalls extends Pick<OperationRuntime, 'lease' | 'unrecordedAnswers'>, RenewedLeases {}

/** A call of another system, whose request has been answered, is given this time to be recorded. */
const STOP_MS = 45_000
const LOOK_EVERY_MS = 50

/** What external calls need. Stop it after all requests and before the database is closed. */
export function openExternalCallLease(database: Database, log: Logger): ExternalCalls {
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'the leases of this process were not renewed')
  const { leases, stop } = renewedLeases(database, onFailure)
  const unrecordedAnswers = new UnrecordedAnswers(database, ({ operation, requestId }, now, error) => {
    const told = { operation: operation.key, requestId }
    if (now === 'kept') log.warn(told, 'the database is away: an answer of another system is kept')
    else if (now === 'recorded') log.info(told, 'an answer that was kept is recorded')
    else log.error({ ...told, err: error }, 'an answer that was kept could not be recorded')
  })
  const lease = leases.of('calls')
  const isCalling = () => lease.worksUnderWay > unrecordedAnswers.count
  return {
    leases,
    lease,
    unrecordedAnswers,
    async stop() {
      const latest = clock.ticks() + STOP_MS
      while (isCalling() && clock.ticks() < latest) await pause(LOOK_EVERY_MS)
      await unrecordedAnswers.stop()
      await stop()
    },
  }
}

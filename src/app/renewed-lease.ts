import type { Database } from '../kernel/database/prepared-sql.ts'
import { type LeaseKind, ProcessLease, RENEW_MS } from '../kernel/database/process-lease.ts'
import type { Runtime } from '../kernel/run/runtime.ts'
import { UnrecordedAnswers } from '../kernel/run/unrecorded-answers.ts'
import type { Logger } from '../platform/log.ts'
import { repeatEvery } from '../platform/rounds.ts'

export interface RenewedLease {
  readonly lease: ProcessLease
  end(): Promise<void>
}

interface Watching {
  readonly wake: () => void
  readonly onFailure: (error: unknown) => void
  readonly heldMs?: number | undefined
}

export function renewLease(
  database: Database,
  kind: LeaseKind,
  { wake, onFailure, heldMs }: Watching,
): RenewedLease {
  const lease = new ProcessLease(database, kind, heldMs)
  const renewal = repeatEvery(RENEW_MS, async () => (await lease.round()) > 0 && wake(), onFailure)
  return {
    lease,
    async end() {
      await renewal.stop()
      await lease.end().catch(onFailure)
    },
  }
}

interface OutsideCalls extends Pick<Runtime, 'lease' | 'unrecordedAnswers'> {
  stop(): Promise<void>
}

/** The lease for external calls. Stop it after all requests and before the database is closed. */
export function openExternalCalls(database: Database, log: Logger): OutsideCalls {
  const onFailure = (error: unknown) => log.warn({ err: error }, 'the lease of outside calls was not renewed')
  const { lease, end } = renewLease(database, 'calls', { wake: () => undefined, onFailure })
  const unrecordedAnswers = new UnrecordedAnswers(database, ({ operation, requestId }, now, error) => {
    const told = { operation: operation.key, requestId }
    if (now === 'kept') log.warn(told, 'the database is away: an answer of another system is kept')
    else if (now === 'recorded') log.info(told, 'an answer that was kept is recorded')
    else log.error({ ...told, err: error }, 'an answer that was kept could not be recorded')
  })
  return {
    lease,
    unrecordedAnswers,
    async stop() {
      await unrecordedAnswers.stop()
      await end()
    },
  }
}

import type { Database } from '../kernel/database/prepared-sql.ts'
import { type LeaseKind, ProcessLease, RENEW_MS } from '../kernel/database/process-lease.ts'
import { everySoOften } from '../platform/rounds.ts'

export interface RenewedLease {
  readonly lease: ProcessLease
  /** To be called once no row is claimed under the lease any more. */
  end(): Promise<void>
}

interface Watching {
  readonly wake: () => void
  readonly onFailure: (error: unknown) => void
  /** How long the lease lasts without renewal, where that is not the usual time. */
  readonly heldMs?: number | undefined
}

/** Opens a lease and renews it until `end`; calls `wake` when rows of dead processes have become free. */
export function renewLease(
  database: Database,
  kind: LeaseKind,
  { wake, onFailure, heldMs }: Watching,
): RenewedLease {
  const lease = new ProcessLease(database, kind, heldMs)
  const renewal = everySoOften(RENEW_MS, async () => (await lease.round()) > 0 && wake(), onFailure)
  return {
    lease,
    async end() {
      await renewal.stop()
      await lease.end().catch(onFailure)
    },
  }
}

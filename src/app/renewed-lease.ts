import type { Database } from '../kernel/database/prepared-sql.ts'
import { type LeaseKind, ProcessLease, RENEW_MS } from '../kernel/database/process-lease.ts'
import { everySoOften } from '../platform/rounds.ts'

export interface KeptLease {
  readonly lease: ProcessLease
  /** Once nothing is held under it any more. */
  end(): Promise<void>
}

/** A lease that is renewed for as long as this process takes something, and tells when the dead have left something. */
export function keepLease(
  database: Database,
  kind: LeaseKind,
  { wake, onFailure }: { wake: () => void; onFailure: (error: unknown) => void },
): KeptLease {
  const lease = new ProcessLease(database, kind)
  const renewal = everySoOften(RENEW_MS, async () => (await lease.round()) > 0 && wake(), onFailure)
  return {
    lease,
    async end() {
      await renewal.stop()
      await lease.end().catch(onFailure)
    },
  }
}

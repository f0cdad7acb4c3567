import { sealPage } from '../../compliance/audit/index.ts'
import { everySoOften } from '../../platform/rounds.ts'
import type { OpenRuntime, Part } from '../runtime.ts'

/** Well below the two seconds within which an entry is sealed. */
const EVERY = 500

/** Seals the audit trails. Several processes may do it: one at a time finds something to do. */
export function startSealing(runtime: OpenRuntime): Part {
  const parts = { database: runtime.database, signer: runtime.ports.signer }
  const stopping = new AbortController()
  const rounds = everySoOften(
    EVERY,
    async () => {
      while (!stopping.signal.aborted && (await sealPage(parts))) {
        // The next page.
      }
    },
    error => runtime.log.warn({ err: error }, 'the audit trail was not sealed'),
  )
  return {
    async stop() {
      stopping.abort()
      await rounds.stop()
    },
  }
}

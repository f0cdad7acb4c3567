import type { Queue, Standing } from '../adapters/sepa-rail/files.ts'
import type { Ports } from '../kernel/contract/ports.ts'
import { platformTenant } from '../money/incoming/index.ts'
import type { RailCall } from '../ports/sepa-rail.ts'

/** The payment queue of the rail by files: it is kept by operations that run as the platform itself. */
export function sepaQueue(runFor: Ports['runFor']): Queue {
  async function run(key: string, { reference, requestId }: RailCall, body: object = {}) {
    const answer = await runFor(platformTenant('live'), key, { id: reference, body }, requestId)
    return (answer as { standing: Standing | null }).standing
  }
  return {
    async put({ scheme, endToEndId, amountEuros, payee, reference }, call) {
      await run('rails.enqueue', call, { scheme, endToEndId, amountEuros, payee, reference })
    },
    standing: call => run('rails.standing', call),
    takeOut: call => run('rails.takeOut', call),
  }
}

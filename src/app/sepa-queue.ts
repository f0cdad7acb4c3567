import type { Queue, QueueStatus } from '../adapters/sepa-rail/files.ts'
import type { Ports } from '../kernel/contract/ports.ts'
import { platformTenant } from '../money/incoming/index.ts'
import type { Payment, RailCall } from '../ports/sepa-rail.ts'

/** The payment queue of the rail by files. Its operations run as the platform. */
export function sepaQueue(runFor: Ports['runFor']): Queue {
  async function run(
    key: string,
    { ownerId }: Payment,
    { reference, requestId }: RailCall,
    body: object = {},
  ) {
    const input = { params: { ownerId, id: reference }, body }
    const answer = await runFor(platformTenant('live'), key, input, requestId)
    return (answer as { standing: QueueStatus | null }).standing
  }
  return {
    async put(payment, call) {
      const { scheme, endToEndId, amountCents, payee, reference } = payment
      await run('rails.enqueue', payment, call, { scheme, endToEndId, amountCents, payee, reference })
    },
    statusOf: (payment, call) => run('rails.standing', payment, call),
    remove: (payment, call) => run('rails.takeOut', payment, call),
  }
}

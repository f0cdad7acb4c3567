import type { PaymentFileQueue, QueuedPaymentStatus } from '../adapters/sepa-rail/files.ts'
import type { RunningService } from '../kernel/contract/ports.ts'
import { platformTenantInMode } from '../money/incoming/index.ts'
import type { SepaPayment, SepaRailCall } from '../ports/sepa-rail.ts'

/** The payment queue of the rail by files. Its operations run as the platform. */
export function sepaQueue(runFor: RunningService['runFor']): PaymentFileQueue {
  async function run(
    key: string,
    { ownerId }: SepaPayment,
    { reference, requestId }: SepaRailCall,
    body: object = {},
  ) {
    const input = { params: { ownerId, id: reference }, body }
    const answer = await runFor(platformTenantInMode('live'), key, input, requestId)
    return (answer as { standing: QueuedPaymentStatus | null }).standing
  }
  return {
    put(payment, call) {
      const { scheme, endToEndId, amountCents, payee, reference, until } = payment
      return run('rails.enqueue', payment, call, { scheme, endToEndId, amountCents, payee, reference, until })
    },
    statusOf: (payment, call) => run('rails.standing', payment, call),
    remove: (payment, call) => run('rails.takeOut', payment, call),
  }
}

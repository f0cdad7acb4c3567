import type { Systems } from '../../../kernel/contract/ports.ts'
import { clock } from '../../../values/clock.ts'
import { cachingVault, openWebhookSecrets } from '../secrets.ts'
import type { ClaimedDelivery } from './claim.ts'
import { deliveryAttemptId, postWebhook } from './post.ts'
import type { DeliveryAttemptResult } from './retry.ts'
import { inSpanOfDelivery } from './traced.ts'

export interface AttemptParts {
  readonly systems: Pick<Systems, 'outbound' | 'tracing' | 'vault'>
  /** Called within the span of an attempt that failed. */
  readonly onRefused?: (delivery: ClaimedDelivery, attempt: DeliveryAttemptResult['attempt']) => void
}

/** Makes an attempt at a delivery that the caller has claimed: one signed POST. */
export type AttemptDelivery = (claimed: ClaimedDelivery) => Promise<DeliveryAttemptResult>

/** The attempts of deliverers and of runs. */
export function deliveryAttempts({ systems, onRefused }: AttemptParts): AttemptDelivery {
  const { outbound, tracing } = systems
  const vault = cachingVault(systems.vault)
  return claimed =>
    inSpanOfDelivery(tracing, claimed, async () => {
      const { id, claim, sealed, url, eventId, event, body, requestId } = claimed
      const message = { deliveryId: deliveryAttemptId(id, claim), url, eventId, event, body, requestId }
      const made = await postWebhook(outbound, message, () => openWebhookSecrets(vault, sealed, clock.real()))
      if (!made.succeeded) onRefused?.(claimed, made.attempt)
      return made
    })
}

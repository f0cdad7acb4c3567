import { randomInt } from 'node:crypto'
import type { OutboundAnswer, OutboundHttp } from '../../../ports/outbound.ts'
import { clock } from '../../../values/clock.ts'
import { redactExcerpt } from '../../../values/redaction.ts'
import { parseRetryAfter } from '../../../values/retry-after.ts'
import { signWebhookHeaders, type WebhookSecrets } from '../../../values/webhook-signature.ts'
import type { DeliveryAttempt } from '../delivery.ts'
import { type DeliveryAttemptResult, MAX_RETRY_AFTER_MS } from './retry.ts'

/** A message to a receiver. Only the delivery id differs between attempts. */
export interface WebhookMessageToSend {
  readonly url: string
  readonly deliveryId: string
  readonly eventId: string
  readonly event: string
  readonly body: string
  readonly requestId: string
}

const MAX_RANDOM = 2 ** 48 - 1

/**
 * The id of one attempt. The number of claims is not unique, since a killed PostgreSQL may lose one. So a
 * random number follows, after a dot, because receivers cut the suffix off at the last `-`.
 */
export const deliveryAttemptId = (deliveryId: string, claim: number): string =>
  `${deliveryId}-${claim}.${randomInt(MAX_RANDOM)}`

const ACKNOWLEDGED_WITHIN_MS = 30_000
const READ_BYTES = 1_024

/** Makes one attempt. If the receiver had just closed the connection, it is repeated with a new id and signature. */
export async function postWebhook(
  outbound: OutboundHttp,
  message: WebhookMessageToSend,
  secrets: () => WebhookSecrets,
): Promise<DeliveryAttemptResult> {
  let base = startAttempt(message.deliveryId)
  const headers = () => signWebhookHeaders({ ...message, ...base, at: new Date(base.at) }, secrets())
  const retryHeaders = () => {
    base = startAttempt(`${message.deliveryId}.2`)
    return headers()
  }
  try {
    const answer = await outbound.send({
      url: message.url,
      method: 'POST',
      headers: headers(),
      retryHeaders,
      body: message.body,
      timeoutMs: ACKNOWLEDGED_WITHIN_MS,
      maxBytes: READ_BYTES,
    })
    return resultOf(base, answer)
  } catch (error) {
    return unsent(base, `The delivery could not be sent: ${(error as Error).message}`)
  }
}

type Base = Pick<DeliveryAttempt, 'deliveryId' | 'at'>

const startAttempt = (deliveryId: string): Base => ({ deliveryId, at: clock.real().toISOString() })

const unsent = (base: Base, error: string): DeliveryAttemptResult => ({
  attempt: { ...base, status: null, latencyMs: null, error, responseStart: null },
  succeeded: false,
  retryAfterMs: null,
})

function resultOf(base: Base, answer: OutboundAnswer): DeliveryAttemptResult {
  if (answer.kind === 'refused' || answer.kind === 'busy') return unsent(base, answer.message)
  const { latencyMs } = answer
  if (answer.kind === 'failed') {
    const result = unsent(base, answer.message)
    return { ...result, attempt: { ...result.attempt, latencyMs } }
  }
  const { status, headers, body } = answer
  const succeeded = status >= 200 && status < 300
  const error = succeeded ? null : refusalOf(status)
  return {
    attempt: { ...base, status, latencyMs, error, responseStart: redactExcerpt(body) },
    succeeded,
    retryAfterMs: succeeded
      ? null
      : parseRetryAfter(headers['retry-after'], clock.real(), MAX_RETRY_AFTER_MS),
  }
}

function refusalOf(status: number): string {
  if (status === 410) return 'The receiver answered 410 (Gone).'
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}: redirects are not followed. Subscribe the final address.`
  return `The receiver answered ${status}; only a 2xx acknowledges a delivery.`
}

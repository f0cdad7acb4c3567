import { type ContextOf, externalCall } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { eventNameProblem } from '../events/index.ts'
import { webhooksApi } from './api.ts'
import { postWebhook, type WebhookMessageToSend } from './dispatch/post.ts'
import type { DeliveryAttemptResult } from './dispatch/retry.ts'
import { continueRuns } from './runs.ts'
import { openWebhookSecrets, type SealedWebhookSecrets } from './secrets.ts'
import { Webhook } from './webhook.ts'

/**
 * The reserved delivery. It is stored to survive a crash: plain data with sealed secrets, whose member names
 * cannot change.
 */
interface Reserved {
  readonly letter: WebhookMessageToSend
  readonly sealed: Omit<SealedWebhookSecrets, 'nextFrom'> & { readonly nextFrom: string | null }
}

type TestContext = ContextOf<typeof webhooksApi.test>

async function recordTest(
  result: DeliveryAttemptResult | null,
  { letter: message, sealed: { id } }: Reserved,
  context: TestContext,
) {
  const { em, sql, emit, refuse } = context
  const webhook = await em.findOne(Webhook, { id }, FOR_UPDATE)
  if (!webhook || webhook.deletedAt) return refuse('webhook_not_found')
  const delivered = result?.succeeded ?? false
  if (delivered && webhook.failures > 0) {
    webhook.clearFailures()
    await continueRuns(context, [id])
    await sql('notify deliveries')
  }
  const { event, body } = message
  const { deliveryId } = result?.attempt ?? message
  emit('webhook.tested', { webhookId: id, deliveryId, delivered })
  return { webhookId: id, event, delivered, attempt: result?.attempt ?? null, body }
}

export const sendTestDelivery = externalCall(webhooksApi.test, {
  async reserve({ params, body }, { em, now, service, requestId, refuse }) {
    const webhook = await em.findOne(Webhook, { id: params.id, deletedAt: null })
    if (!webhook) return refuse('webhook_not_found')
    const type = (await service.eventTypes()).find(({ event }) => event === body.event)
    if (!type) return refuse('unknown_event', eventNameProblem('event', body.event, service))
    const { id, url, secret, nextSecret, nextFrom } = webhook
    const { event, example } = type
    const message = {
      url,
      deliveryId: newId('test'),
      eventId: newId('test'),
      event,
      body: JSON.stringify({ event, createdAt: now.toISOString(), data: example }),
      requestId,
    }
    return {
      letter: message,
      sealed: { id, secret, nextSecret, nextFrom: nextFrom?.toISOString() ?? null },
    }
  },

  call({ letter: message, sealed }, { systems: { outbound, vault } }) {
    const nextFrom = sealed.nextFrom === null ? null : new Date(sealed.nextFrom)
    return postWebhook(outbound, message, () =>
      openWebhookSecrets(vault, { ...sealed, nextFrom }, clock.real()),
    )
  },

  record: recordTest,

  recover: (reserved, context) => recordTest(null, reserved, context),
})

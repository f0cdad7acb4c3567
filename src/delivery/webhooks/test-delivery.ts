import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { lock } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { misnamedOne } from '../events/index.ts'
import type { webhooksApi } from './api.ts'
import { type Letter, post } from './dispatch/post.ts'
import type { Taken } from './dispatch/retry.ts'
import { openSecrets, type Sealed } from './secrets.ts'
import { Webhook } from './webhook.ts'

/** What is about to be sent; plain, for it outlives a crash, and without a secret that could be read. */
interface Reserved {
  readonly letter: Letter
  readonly sealed: Omit<Sealed, 'nextFrom'> & { readonly nextFrom: string | null }
}

type Testing = ContextOf<typeof webhooksApi.test>

async function keep(taken: Taken | null, { letter, sealed: { id } }: Reserved, context: Testing) {
  const { em, sql, emit, refuse } = context
  const webhook = await lock(em, Webhook, id)
  if (!webhook || webhook.deletedAt) return refuse('webhook_not_found')
  const delivered = taken?.succeeded ?? false
  if (delivered && webhook.failures > 0) {
    webhook.makeWell()
    await sql('notify deliveries')
  }
  const { event, body } = letter
  const { deliveryId } = taken?.attempt ?? letter
  emit('webhook.tested', { webhookId: id, deliveryId, delivered })
  return { webhookId: id, event, delivered, attempt: taken?.attempt ?? null, body }
}

/** Sends an example at once, and tells what came of it. */
export const trial: HandlerOf<typeof webhooksApi.test> = {
  async reserve({ params, body }, { em, now, ports, requestId, refuse }) {
    const webhook = await em.findOne(Webhook, { id: params.id, deletedAt: null })
    if (!webhook) return refuse('webhook_not_found')
    const type = (await ports.eventTypes()).find(({ event }) => event === body.event)
    if (!type) return refuse('unknown_event', misnamedOne('event', body.event, ports))
    const { id, url, secret, nextSecret, nextFrom } = webhook
    const { event, example } = type
    const text = JSON.stringify({ event, createdAt: now.toISOString(), data: example })
    const ids = { deliveryId: newId('test'), eventId: newId('test') }
    const letter = { url, ...ids, event, body: text, requestId }
    return { letter, sealed: { id, secret, nextSecret, nextFrom: nextFrom?.toISOString() ?? null } }
  },

  call({ letter, sealed }: Reserved, { ports: { outbound, vault } }) {
    const nextFrom = sealed.nextFrom === null ? null : new Date(sealed.nextFrom)
    return post(outbound, letter, () => openSecrets(vault, { ...sealed, nextFrom }, clock.real()))
  },

  record: keep,

  recover: (reserved: Reserved, context) => keep(null, reserved, context),
}

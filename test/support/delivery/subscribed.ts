import type { plans } from '../../../src/identity/customers/customer.ts'
import { aWebhook, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import type { Manner, Receiver } from './receiver.ts'

let paths = 0

/** Subscriptions whose receiver answers as a test wants. */
export function subscriptionsIn(service: TestService, receiver: Receiver) {
  /** An owner of this plan with a subscription to `agent.created`, whose receiver does this. */
  async function subscribed(manner: Manner, plan: (typeof plans)[number] = 'business', by = receiver) {
    const { client, ownerId } = await service.owner()
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan } }))
    const path = `/${++paths}`
    by.treat(path, manner)
    const webhook = await aWebhook(client, { url: by.url + path, events: ['agent.created'] })
    return { client, ownerId, path, id: webhook.id }
  }

  return { subscribed }
}

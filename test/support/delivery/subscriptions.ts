import type { plans } from '../../../src/identity/customers/customer.ts'
import { aWebhook, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import type { Behavior, Receiver } from './receiver.ts'

let paths = 0

/** Helpers that subscribe new owners to a receiver with a given behavior. */
export function subscriptionsIn(service: TestService, receiver: Receiver) {
  /** An owner of this plan with a subscription to `agent.created`, and a receiver of this behavior. */
  async function subscribed(behavior: Behavior, plan: (typeof plans)[number] = 'business', by = receiver) {
    const { client, ownerId } = await service.owner()
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan } }))
    const path = `/${++paths}`
    by.treat(path, behavior)
    const webhook = await aWebhook(client, { url: by.url + path, events: ['agent.created'] })
    return { client, ownerId, path, id: webhook.id }
  }

  return { subscribed }
}

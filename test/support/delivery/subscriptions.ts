import type { customerPlans } from '../../../src/identity/customers/customer.ts'
import { aWebhook, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import type { Behavior, Receiver } from './receiver.ts'

let paths = 0

export function subscriptionsIn(service: TestService, receiver: Receiver) {
  async function subscribed(
    behavior: Behavior,
    plan: (typeof customerPlans)[number] = 'business',
    by = receiver,
  ) {
    const { client, ownerId } = await service.owner()
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan } }))
    const path = `/${++paths}`
    by.treat(path, behavior)
    const webhook = await aWebhook(client, { url: by.url + path, events: ['agent.created'] })
    return { client, ownerId, path, id: webhook.id }
  }

  return { subscribed }
}

import { webhooksApi } from '../../../../delivery/webhooks/index.ts'
import type { Html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { text } from '../../parts/text.ts'

const known = new WeakMap<PageRequest, ReadonlyMap<string, string>>()

/** Reads what subscriptions are for, or where they lead, once a page; of more than a hundred the newest. */
export async function nameWebhooks(request: PageRequest): Promise<void> {
  if (known.has(request)) return
  const { data } = await request.ask(webhooksApi.list, { query: { limit: 100 } })
  known.set(request, new Map(data.map(({ id, url, description }) => [id, description || url])))
}

/** A link to a subscription, by its name where `nameWebhooks` has found it. */
export function webhookLink(request: PageRequest, id: string): Html {
  const name = known.get(request)?.get(id)
  return recordLink(request, id, name === undefined ? undefined : text(name, 60))
}

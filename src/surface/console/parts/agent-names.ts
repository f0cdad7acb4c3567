import { agentsApi } from '../../../control/agents/index.ts'
import type { Html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import type { Choices } from './form.ts'
import { recordLink } from './links.ts'
import { text } from './text.ts'

/** How many agents are named: others are shown by their ids. */
const MOST = 100

const known = new WeakMap<PageRequest, ReadonlyMap<string, string>>()

/** Reads what the newest agents are called, once a page. */
export async function nameAgents(request: PageRequest): Promise<ReadonlyMap<string, string>> {
  const found = known.get(request)
  if (found) return found
  const { data } = await request.ask(agentsApi.list, { query: { limit: MOST } })
  const names = new Map(data.map(({ id, name }) => [id, name]))
  known.set(request, names)
  return names
}

/** The agents as a filter offers them. */
export const agentChoices = async (request: PageRequest): Promise<Choices> => [...(await nameAgents(request))]

/** A link to an agent, by its name where `nameAgents` has found it. */
export function agentLink(request: PageRequest, id: string | null): Html {
  const name = id === null ? undefined : known.get(request)?.get(id)
  return recordLink(request, id, name === undefined ? undefined : text(name, 80))
}

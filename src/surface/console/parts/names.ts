import { agentsApi } from '../../../control/agents/index.ts'
import { peopleApi } from '../../../identity/people/index.ts'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { beneficiariesApi } from '../../../money/beneficiaries/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import type { PageRequest } from '../page.ts'
import type { Choices } from './form.ts'

const lists = {
  wallets: walletsApi.list,
  agents: agentsApi.list,
  beneficiaries: beneficiariesApi.list,
  people: peopleApi.list,
}

export type Kind = keyof typeof lists

interface Named {
  readonly id: string
  readonly name: string
}

/** The names that a page has read, so that a record is called by its name and not by its id. */
interface Names {
  readonly byId: Map<string, string>
  /** Each kind is asked for once, whoever on the page needs it. */
  readonly asked: Map<Kind, Promise<Choices>>
}

const known = new WeakMap<object, Names>()

function namesOn(request: PageRequest): Names {
  const names = known.get(request) ?? { byId: new Map(), asked: new Map() }
  known.set(request, names)
  return names
}

/** Reads the names of the newest hundred of each kind; older ones are shown by their ids. */
export async function readNames(request: PageRequest, ...kinds: readonly Kind[]): Promise<void> {
  await Promise.all(kinds.map(kind => choicesOf(kind, request)))
}

/** What a form lets choose from: the newest hundred of a kind. */
export function choicesOf(kind: Kind, request: PageRequest): Promise<Choices> {
  const { asked } = namesOn(request)
  const choices = asked.get(kind) ?? readChoices(kind, request)
  asked.set(kind, choices)
  return choices
}

async function readChoices(kind: Kind, request: PageRequest): Promise<Choices> {
  const operation: AnyOperation = lists[kind]
  if (!request.may(operation)) return []
  const { data }: { data: readonly Named[] } = await request.ask(operation, {
    params: {},
    query: { limit: 100 },
  })
  const { byId } = namesOn(request)
  for (const { id, name } of data) byId.set(id, name)
  return data.map(({ id, name }) => [id, name] as const)
}

/** What the record of this id is called, where the page has read it. */
export const nameOf = (request: object, id: string): string | undefined => known.get(request)?.byId.get(id)

/** The kind of record that a member names. */
const kinds: Readonly<Record<string, Kind>> = {
  agentId: 'agents',
  walletId: 'wallets',
  beneficiaryId: 'beneficiaries',
  personId: 'people',
}

/** What these members can be chosen from, of the kinds whose names the page reads anyway. */
export async function choicesFor(
  members: readonly string[],
  named: readonly Kind[],
  request: PageRequest,
): Promise<Record<string, Choices>> {
  const found: [string, Choices][] = []
  for (const member of members) {
    const kind = kinds[member]
    const choices = kind && named.includes(kind) ? await choicesOf(kind, request) : []
    if (choices.length > 0) found.push([member, choices])
  }
  return Object.fromEntries(found)
}

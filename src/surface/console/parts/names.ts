import { agentsApi } from '../../../control/agents/index.ts'
import { peopleApi } from '../../../identity/people/index.ts'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { beneficiariesApi } from '../../../money/beneficiaries/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import type { PageRequest } from '../page.ts'
import type { Choices } from './form.ts'

export type Kind = 'wallets' | 'agents' | 'beneficiaries' | 'people'

const lists: Readonly<Record<Kind, AnyOperation>> = {
  wallets: walletsApi.list,
  agents: agentsApi.list,
  beneficiaries: beneficiariesApi.list,
  people: peopleApi.list,
}

/** The status of records that a list leaves out: a form does not offer them, but past payments name them. */
const endedStatus: Readonly<Partial<Record<Kind, string>>> = { wallets: 'closed', agents: 'deleted' }

interface Named {
  readonly id: string
  readonly name: string
}

/** The names that a page has read, so that a record is called by its name and not by its id. */
interface Names {
  readonly byId: Map<string, string>
  /** Each kind is asked for once, whoever on the page needs it; the ended ones of a kind likewise. */
  readonly asked: Map<Kind | `ended ${Kind}`, Promise<Choices>>
}

const known = new WeakMap<object, Names>()

function namesOn(request: PageRequest): Names {
  const names = known.get(request) ?? { byId: new Map(), asked: new Map() }
  known.set(request, names)
  return names
}

/** Reads the names of the newest hundred of each kind, and of the newest hundred that ended; older ones are shown by their ids. */
export async function readNames(request: PageRequest, ...kinds: readonly Kind[]): Promise<void> {
  await Promise.all(kinds.flatMap(kind => [choicesOf(kind, request), endedOf(kind, request)]))
}

/** What a form lets choose from: the newest hundred of a kind. */
export const choicesOf = (kind: Kind, request: PageRequest): Promise<Choices> =>
  askedOnce(kind, request, () => readRecords(kind, {}, request))

const endedOf = (kind: Kind, request: PageRequest): Promise<Choices> =>
  askedOnce(`ended ${kind}`, request, async () => {
    const status = endedStatus[kind]
    return status === undefined ? [] : readRecords(kind, { status }, request)
  })

function askedOnce(
  what: Kind | `ended ${Kind}`,
  request: PageRequest,
  read: () => Promise<Choices>,
): Promise<Choices> {
  const { asked } = namesOn(request)
  const choices = asked.get(what) ?? read()
  asked.set(what, choices)
  return choices
}

async function readRecords(
  kind: Kind,
  filter: Readonly<Record<string, string>>,
  request: PageRequest,
): Promise<Choices> {
  const operation = lists[kind]
  if (!request.may(operation)) return []
  const { data }: { data: readonly Named[] } = await request.ask(operation, {
    params: {},
    query: { limit: 100, ...filter },
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

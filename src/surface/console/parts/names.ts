import { agentsApi } from '../../../control/agents/index.ts'
import { webhooksApi } from '../../../delivery/webhooks/index.ts'
import { peopleApi } from '../../../identity/people/index.ts'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { beneficiariesApi } from '../../../money/beneficiaries/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import { prefixOf } from '../../../values/ids.ts'
import type { PageRequest } from '../page.ts'
import type { Choices } from './form.ts'

export type Kind = 'wallets' | 'agents' | 'beneficiaries' | 'people' | 'webhooks'

const lists: Readonly<Record<Kind, AnyOperation>> = {
  wallets: walletsApi.list,
  agents: agentsApi.list,
  beneficiaries: beneficiariesApi.list,
  people: peopleApi.list,
  webhooks: webhooksApi.list,
}

/** The status of ended records. Forms do not offer them, but past payments refer to them. */
const endedStatus: Readonly<Partial<Record<Kind, string>>> = { wallets: 'closed', agents: 'deleted' }

interface Named {
  readonly id: string
  readonly name?: string
  /** A subscription has no name, so its description or its address is shown. */
  readonly description?: string | null
  readonly url?: string
}

const calledBy = ({ id, name, description, url }: Named): string => name ?? (description || (url ?? id))

interface Names {
  readonly byId: Map<string, string>
  /** Each kind, and its ended records, are read once for a page. */
  readonly asked: Map<Kind | `ended ${Kind}`, Promise<Choices>>
}

const known = new WeakMap<object, Names>()

function namesOn(request: PageRequest): Names {
  const names = known.get(request) ?? { byId: new Map(), asked: new Map() }
  known.set(request, names)
  return names
}

/**
 * Reads the names of the newest hundred of each kind, and of the newest hundred that ended. Older records
 * appear by id.
 */
export async function readNames(request: PageRequest, ...kinds: readonly Kind[]): Promise<void> {
  await Promise.all(kinds.flatMap(kind => [choicesOf(kind, request), endedOf(kind, request)]))
}

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
  const named = data.map(one => [one.id, calledBy(one)] as const)
  for (const [id, name] of named) byId.set(id, name)
  return named
}

export const nameOf = (request: object, id: string): string | undefined => known.get(request)?.byId.get(id)

const kindOfMember = (member: string): Kind | undefined =>
  Object.entries(kindsByPrefix).find(([prefix]) => member.toLowerCase().endsWith(`${prefix}id`))?.[1]

export async function choicesFor(
  members: readonly string[],
  request: PageRequest,
): Promise<Record<string, Choices>> {
  const found = await Promise.all(
    members.map(async member => {
      const kind = kindOfMember(member)
      return [member, kind === undefined ? [] : await choicesOf(kind, request)] as const
    }),
  )
  return Object.fromEntries(found.filter(([, choices]) => choices.length > 0))
}

const kindsByPrefix: Readonly<Record<string, Kind>> = {
  agent: 'agents',
  wallet: 'wallets',
  beneficiary: 'beneficiaries',
  person: 'people',
  webhook: 'webhooks',
}

export async function readNamesIn(
  records: readonly object[],
  request: PageRequest,
  unnamed: readonly string[] = [],
): Promise<void> {
  const left = new Set(['id', ...unnamed])
  const ids = records.flatMap(record => Object.entries(record).filter(([name]) => !left.has(name)))
  const kinds = ids.map(([, id]) => typeof id === 'string' && kindsByPrefix[prefixOf(id)])
  await readNames(request, ...new Set(kinds.filter(kind => kind !== undefined && kind !== false)))
}

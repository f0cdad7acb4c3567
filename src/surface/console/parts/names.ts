import { agentsApi } from '../../../control/agents/index.ts'
import { webhooksApi } from '../../../delivery/webhooks/index.ts'
import { peopleApi } from '../../../identity/people/index.ts'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { beneficiariesApi } from '../../../money/beneficiaries/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import { idPrefix } from '../../../values/ids.ts'
import type { PageRequest } from '../page.ts'
import type { FieldChoices } from './form.ts'

export type NamedRecordKind = 'wallets' | 'agents' | 'beneficiaries' | 'people' | 'webhooks'

const lists: Readonly<Record<NamedRecordKind, AnyOperation>> = {
  wallets: walletsApi.list,
  agents: agentsApi.list,
  beneficiaries: beneficiariesApi.list,
  people: peopleApi.list,
  webhooks: webhooksApi.list,
}

/** The status of ended records. Forms do not offer them, but past payments refer to them. */
const endedStatus: Readonly<Partial<Record<NamedRecordKind, string>>> = {
  wallets: 'closed',
  agents: 'deleted',
}

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
  readonly asked: Map<NamedRecordKind | `ended ${NamedRecordKind}`, Promise<FieldChoices>>
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
export async function readRecordNames(
  request: PageRequest,
  ...kinds: readonly NamedRecordKind[]
): Promise<void> {
  await Promise.all(kinds.flatMap(kind => [recordChoices(kind, request), endedOf(kind, request)]))
}

export const recordChoices = (kind: NamedRecordKind, request: PageRequest): Promise<FieldChoices> =>
  askedOnce(kind, request, () => readRecords(kind, {}, request))

const endedOf = (kind: NamedRecordKind, request: PageRequest): Promise<FieldChoices> =>
  askedOnce(`ended ${kind}`, request, async () => {
    const status = endedStatus[kind]
    return status === undefined ? [] : readRecords(kind, { status }, request)
  })

function askedOnce(
  what: NamedRecordKind | `ended ${NamedRecordKind}`,
  request: PageRequest,
  read: () => Promise<FieldChoices>,
): Promise<FieldChoices> {
  const { asked } = namesOn(request)
  const choices = asked.get(what) ?? read()
  asked.set(what, choices)
  return choices
}

async function readRecords(
  kind: NamedRecordKind,
  filter: Readonly<Record<string, string>>,
  request: PageRequest,
): Promise<FieldChoices> {
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

export const knownRecordName = (request: object, id: string): string | undefined =>
  known.get(request)?.byId.get(id)

const kindOfMember = (member: string): NamedRecordKind | undefined =>
  Object.entries(kindsByPrefix).find(([prefix]) => member.toLowerCase().endsWith(`${prefix}id`))?.[1]

export async function fieldChoicesFor(
  members: readonly string[],
  request: PageRequest,
): Promise<Record<string, FieldChoices>> {
  const found = await Promise.all(
    members.map(async member => {
      const kind = kindOfMember(member)
      return [member, kind === undefined ? [] : await recordChoices(kind, request)] as const
    }),
  )
  return Object.fromEntries(found.filter(([, choices]) => choices.length > 0))
}

const kindsByPrefix: Readonly<Record<string, NamedRecordKind>> = {
  agent: 'agents',
  wallet: 'wallets',
  beneficiary: 'beneficiaries',
  person: 'people',
  webhook: 'webhooks',
}

export async function readNamesInRows(
  records: readonly object[],
  request: PageRequest,
  unnamed: readonly string[] = [],
): Promise<void> {
  const left = new Set(['id', ...unnamed])
  const ids = records.flatMap(record => Object.entries(record).filter(([name]) => !left.has(name)))
  const kinds = ids.map(([, id]) => typeof id === 'string' && kindsByPrefix[idPrefix(id)])
  await readRecordNames(request, ...new Set(kinds.filter(kind => kind !== undefined && kind !== false)))
}

import { cardsApi } from '../../../cards/cards/index.ts'
import { agentTokensApi } from '../../../control/agent-tokens/index.ts'
import { agentsApi } from '../../../control/agents/index.ts'
import { intentsApi } from '../../../control/intents/index.ts'
import { policiesApi } from '../../../control/policies/index.ts'
import { runsApi } from '../../../control/runs/index.ts'
import { webhooksApi } from '../../../delivery/webhooks/index.ts'
import { apiKeysApi } from '../../../identity/keys/index.ts'
import { peopleApi } from '../../../identity/people/index.ts'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { RefusedError } from '../../../kernel/contract/problem.ts'
import { beneficiariesApi } from '../../../money/beneficiaries/index.ts'
import { transactionsApi } from '../../../money/transactions/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import { idPrefix } from '../../../values/ids.ts'
import { isTypeId } from '../../../values/members.ts'
import type { PageRequest } from '../page.ts'
import type { FieldChoices } from './form.ts'
import { formatPlainEuros } from './text.ts'

type NamedRecordKind =
  | 'wallets'
  | 'agents'
  | 'beneficiaries'
  | 'cards'
  | 'runs'
  | 'people'
  | 'webhooks'
  | 'policies'
  | 'keys'
  | 'tokens'
  | 'transactions'

/** Without `get`, records are only named from the list: a token's address begins with its agent. */
const operations: Readonly<
  Record<NamedRecordKind, { readonly list: AnyOperation; readonly get?: AnyOperation }>
> = {
  wallets: walletsApi,
  agents: agentsApi,
  beneficiaries: beneficiariesApi,
  cards: cardsApi,
  runs: runsApi,
  people: peopleApi,
  webhooks: webhooksApi,
  policies: policiesApi,
  keys: apiKeysApi,
  tokens: { list: agentTokensApi.listAll },
  transactions: transactionsApi,
}

/** The status of ended records. Forms do not offer them, but past payments refer to them. */
const endedStatus: Readonly<Partial<Record<NamedRecordKind, string>>> = {
  wallets: 'closed',
  agents: 'deleted',
  cards: 'closed',
}

const ENDED = new Set(['deleting', 'deleted', 'closed', 'removed', 'revoked'])

interface Named {
  readonly id: string
  readonly status?: string
  readonly name?: string
  /** A token has a label. */
  readonly label?: string
  readonly displayName?: string
  readonly last4?: string | null
  /** A subscription has no name, so its description or its address is shown. */
  readonly description?: string | null
  readonly url?: string
  readonly merchant?: string
  /** The type of a payment. */
  readonly type?: string
  readonly amountEuros?: number
}

/** Before the merchant of a payment: a received one names what it was for. */
const prepositions: Readonly<Record<string, string>> = { collect: 'for', refund: 'from' }

function calledBy({ id, label, displayName, last4, description, url, merchant, ...named }: Named): string {
  const { name = label, amountEuros, type = '' } = named
  if (merchant !== undefined && amountEuros !== undefined)
    return `${formatPlainEuros(amountEuros)} ${prepositions[type] ?? 'to'} ${merchant}`
  if (displayName !== undefined) return last4 ? `${displayName} …${last4}` : displayName
  return name ?? (description || (url ?? id))
}

interface RecordName {
  readonly name: string
  /** How the record has ended, such as `deleted`. Past payments keep its name. */
  readonly ended?: string
}

interface Names {
  readonly byId: Map<string, RecordName>
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
export async function preloadRecordNames(
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
  const operation = operations[kind].list
  if (!request.may(operation)) return []
  const { data }: { data: readonly Named[] } = await request.ask(operation, {
    params: {},
    query: { limit: 100, ...filter },
  })
  for (const one of data) keepName(one, request)
  return data.map(one => [one.id, calledBy(one)] as const)
}

function keepName(one: Named, request: PageRequest): void {
  const { status = '' } = one
  namesOn(request).byId.set(one.id, { name: calledBy(one), ...(ENDED.has(status) && { ended: status }) })
}

export const knownRecordName = (request: object, id: string): RecordName | undefined =>
  known.get(request)?.byId.get(id)

const kindOfMember = (member: string): NamedRecordKind | undefined =>
  [...kindsByPrefix].find(([prefix]) => member.toLowerCase().endsWith(`${prefix}id`))?.[1]

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

/** A map, because third-party text may look like an id: `constructor_1`. */
const kindsByPrefix: ReadonlyMap<string, NamedRecordKind> = new Map([
  ['agent', 'agents'],
  ['wallet', 'wallets'],
  ['beneficiary', 'beneficiaries'],
  ['card', 'cards'],
  ['run', 'runs'],
  ['person', 'people'],
  ['webhook', 'webhooks'],
  ['policy', 'policies'],
  ['key', 'keys'],
  ['token', 'tokens'],
])

/** Payments and their intents are called by amount and payee, and read only where few are named. */
const payments: ReadonlyMap<string, AnyOperation> = new Map<string, AnyOperation>([
  ['txn', transactionsApi.get],
  ['intent', intentsApi.get],
])

/** Up to this number, records are read one by one, which is cheaper than the two lists of their kind. */
const FEW = 3
/** Bounds the reads of a page. Further names are shown by id. */
const MOST_READ = 20

/** Reads the names of all records that these refer to, also of ended ones. */
export async function readNamesInRows(
  records: readonly object[],
  request: PageRequest,
  unnamed: readonly string[] = [],
): Promise<void> {
  const left = new Set(['id', ...unnamed])
  const values = records.flatMap(record => Object.entries(record).filter(([name]) => !left.has(name)))
  const ids = new Set(values.flatMap(([, value]) => (isNamedRecord(value) ? [value] : [])))
  const byKind = Map.groupBy(ids, id => kindsByPrefix.get(idPrefix(id)) as NamedRecordKind)
  await Promise.all([...byKind].map(([kind, some]) => readNamesOf(kind, some, request)))
}

/** Reads how the intents are called to which these records belong. */
export async function readIntentNames(
  records: readonly { readonly resourceId: string }[],
  request: PageRequest,
): Promise<void> {
  const ids = new Set(records.map(({ resourceId }) => resourceId).filter(id => idPrefix(id) === 'intent'))
  await Promise.all([...ids].map(id => readNameOf(intentsApi.get, id, request)))
}

/** Reads how the payment of an intent is called, or the intent of a payment. */
export async function readPaymentNames(record: object, request: PageRequest): Promise<void> {
  const ids = Object.entries(record).filter(([name, value]) => name !== 'id' && typeof value === 'string')
  const named = ids.filter(([, id]) => payments.has(idPrefix(id))).slice(0, FEW)
  await Promise.all(
    named.map(([, id]) => readNameOf(payments.get(idPrefix(id)) as AnyOperation, id, request)),
  )
}

/** Reads how the payments are called that these records name, where a list shows them. */
export const readPaymentsInRows = (
  records: readonly { readonly transactionId: string | null }[],
  request: PageRequest,
): Promise<void> =>
  readNamesOf(
    'transactions',
    [...new Set(records.flatMap(({ transactionId }) => transactionId ?? []))],
    request,
  )

const isNamedRecord = (value: unknown): value is string =>
  typeof value === 'string' && isTypeId(value) && kindsByPrefix.has(idPrefix(value))

async function readNamesOf(
  kind: NamedRecordKind,
  ids: readonly string[],
  request: PageRequest,
): Promise<void> {
  const unread = () => ids.filter(id => knownRecordName(request, id) === undefined)
  const { get } = operations[kind]
  if (unread().length > FEW || !get) await preloadRecordNames(request, kind)
  if (!get) return
  await Promise.all(
    unread()
      .slice(0, MOST_READ)
      .map(id => readNameOf(get, id, request)),
  )
}

async function readNameOf(get: AnyOperation, id: string, request: PageRequest): Promise<void> {
  if (!request.may(get)) return
  try {
    keepName((await request.ask(get, { params: { id } })) as Named, request)
  } catch (error) {
    // The name is erased, or the id is another owner's.
    if (!(error instanceof RefusedError)) throw error
  }
}

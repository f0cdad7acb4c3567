import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { payerPageStyle } from '../../../src/commerce/collect/payer-page/page.ts'
import { publishedOperations } from '../../../src/kernel/contract/area.ts'
import { beginsSession, type RegisteredOperation } from '../../../src/kernel/contract/operation.ts'
import { consoleScript } from '../../../src/surface/console/browser/browser.ts'
import { consoleFrameStyle as viewStyle } from '../../../src/surface/console/frame.ts'
import { consolePagesStyle as consoleStyle } from '../../../src/surface/console-pages/assets.ts'
import { networkBefore } from '../cards/network.ts'
import { clientAt } from '../client.ts'
import { pay } from '../commerce/machine-payer.ts'
import { storeDeliveries } from '../delivery/deliveries.ts'
import {
  DASHBOARD_SECRET,
  type HttpResponse,
  type Owner,
  type RequestOptions,
  type TestService,
} from '../harness.ts'
import { FROM_OUR_PAGE, type SignedIn, signedInTo } from '../identity/console.ts'
import { aTerminal } from '../identity/pairing.ts'
import { aConnectedAssistant } from './world-assistants.ts'
import { aChangeRequest } from './world-change-requests.ts'
import {
  FILLING_OPERATIONS,
  LINKED_FROM,
  RECORD_VARIANTS,
  REQUIRED_BEFORE,
  SPECIAL_RECORDS,
  type SpecialRecord,
} from './world-data.ts'
import { aDeviceLetIn } from './world-devices.ts'
import { MADE_BEFORE, MADE_HEADERS, MADE_MEMBERS } from './world-members.ts'
import { aPasskey } from './world-passkeys.ts'
import { aConversation, aProposal } from './world-proposals.ts'

export const operations = publishedOperations(areas)

/** Collections filled by other operations, or only by an agent's behaviour. */
const CAUSED: Readonly<Record<string, (world: World) => Promise<string>>> = {
  '/console/sessions': async world => (await world.signedIn()).sessionId,
  '/collect/agents': world => world.idOf('agent'),
  '/forecast/agents': world => world.idOf('agent'),
  '/merchants': world => world.metMerchant(),
  '/sessions': world => world.deviceLetIn(),
  '/sso': world => world.idOf('ssoprovider'),
  '/assistants': world => world.connectedAssistant(),
  '/cli': world => world.waitingTerminal(),
  '/approve': world => world.idOf('intent'),
  '/console': async () => 'agents',
  '/console/csv': async () => 'agents',
  '/console/assets': async () => viewStyle.name,
  '/console/scripts': async () => consoleScript.name,
  '/login/assets': async () => consoleStyle.name,
  '/v1/mpp/payments': world => world.idOf('mppcredential'),
  '/pay': world => world.idOf('request'),
  '/pay/assets': async () => payerPageStyle.name,
  '/risk/agents': async world => (await world.frozenByRisk()).agentId,
  '/risk/alerts': async world => (await world.frozenByRisk()).id,
  '/passkeys': world => world.enrolledPasskey(),
  '/passkeys/challenges': world => world.askedChallenge(),
  '/webhooks/deliveries': world => world.waitingDelivery(),
  '/collect/402': world => world.askedForMoney(),
  '/collect/settlements': world => world.paidByMachine(),
  '/simulate/mpp': async () => 'paid',
  '/canvas/conversations': world => world.talked(),
  '/docs/api': async () => 'intents.create',
  '/docs/guides': async () => 'webhooks',
  '/docs/errors': async () => 'agent_not_found',
  '/canvas/proposals': world => world.proposed(),
  '/change-requests': world => world.proposedChangeRequest(),
}

/** Nested collections that only the outside world fills, by path template. */
const CAUSED_WITHIN: Readonly<Record<string, (world: World, id: string) => Promise<string>>> = {
  '/console/{id}': world => world.idOf('agent'),
  '/security/incidents/{id}/reports': async () => 'initial',
  '/cards/{id}/authorizations': (world, cardId) => world.paidByCard(cardId),
}

/** An id as in the contracts' examples. */
const EXAMPLE = /^([a-z]+)_01jd8x2m4ye7k9v0c3q5r6t8wz$/
export const unknownId = (prefix: string): string => `${prefix}_01jd8x2m4ye7k9v0c3q5r6t8wz`

export interface Prepared {
  readonly path: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

const byKey = (key: string): RegisteredOperation => {
  const operation = operations.find(registered => registered.key === key)
  if (!operation) throw new Error(`there is no ${key}`)
  return operation
}

const operationAt = (method: string, path: string): RegisteredOperation | undefined =>
  operations.find(({ operation }) => operation.method === method && operation.path === path)

function prefixOf({ operation }: RegisteredOperation): string | undefined {
  const schema = operation.returns[1]
  const example = schema instanceof z.ZodObject ? schema.shape.id?.meta()?.examples?.[0] : undefined
  return EXAMPLE.exec(String(example))?.[1]
}

/** An owner with a key and a signed-in person. */
export interface WorldOwner extends Owner<typeof areas> {
  readonly session: SignedIn['headers']
}

export const withSession = async (
  service: Pick<TestService, 'sql' | 'url'>,
  owner: Owner<typeof areas>,
): Promise<WorldOwner> => ({
  ...owner,
  session: (await signedInTo(service, owner)).headers,
})

export function credentials(
  { operation }: RegisteredOperation,
  { key, session }: Pick<WorldOwner, 'key' | 'session'>,
): RequestOptions {
  const { callers } = operation
  if (callers.includes('key')) return { token: key }
  if (callers.includes('dash')) return { headers: { 'x-dashboard-secret': DASHBOARD_SECRET } }
  if (callers.includes('console')) return { headers: session }
  return beginsSession(operation) ? { headers: FROM_OUR_PAGE } : {}
}

interface WorldOptions {
  /** Reuses the records, for requests that change nothing. */
  readonly keeps?: boolean
}

/** One owner's records, created on demand from the contracts' own examples. */
export class World {
  readonly #service: Pick<TestService, 'http' | 'sql' | 'url' | 'databaseUrl'>
  readonly owner: WorldOwner
  readonly #prepared: Map<string, Promise<Prepared>> | undefined
  readonly #records = new Map<string, Promise<string>>()
  #keeps = false
  #variants: Readonly<Record<string, object>> = {}

  constructor(
    service: Pick<TestService, 'http' | 'sql' | 'url' | 'databaseUrl'>,
    owner: WorldOwner,
    { keeps = false }: WorldOptions = {},
  ) {
    this.#service = service
    this.owner = owner
    this.#prepared = keeps ? new Map() : undefined
  }

  /** A path and a body with which the operation succeeds. */
  prepare(registered: RegisteredOperation): Promise<Prepared> {
    if (!this.#prepared) return this.#prepare(registered)
    // Records that were changed first or created specially are useless to other operations.
    const isSpecial = Object.keys(CAUSED).some(collection => registered.operation.path.startsWith(collection))
    this.#keeps = !(
      registered.key in REQUIRED_BEFORE ||
      registered.key in RECORD_VARIANTS ||
      registered.key in MADE_BEFORE ||
      isSpecial
    )
    return cached(this.#prepared, registered.key, () => this.#prepare(registered))
  }

  #once(name: string, make: () => Promise<string>): Promise<string> {
    return this.#keeps ? cached(this.#records, name, make) : make()
  }

  async #prepare(registered: RegisteredOperation): Promise<Prepared> {
    this.#variants = RECORD_VARIANTS[registered.key] ?? {}
    const path = (await this.#fill(registered.operation.path)) + (await this.#queryOf(registered))
    const body = await this.bodyOf(registered, path)
    const before = REQUIRED_BEFORE[registered.key]
    if (before) await this.#succeed(byKey(before), path)
    const make = this.#make.bind(this)
    await MADE_BEFORE[registered.key]?.(make, path, this.#service)
    return {
      path,
      body,
      headers: (await MADE_HEADERS[registered.key]?.(make, path, this.#service)) ?? {},
    }
  }

  async #queryOf({ operation }: RegisteredOperation): Promise<string> {
    const members = Object.entries<z.ZodType>(operation.query?.shape ?? {})
    // A key must name the agent where an agent's token need not.
    const isForKeys = (name: string) => name === 'agentId' && 'agent_required' in (operation.fails ?? {})
    const required = members.filter(
      ([name, member]) => isForKeys(name) || !member.safeParse(undefined).success,
    )
    const examples = required.map(([name, member]) => [name, Object.values(member.meta()?.examples ?? [])[0]])
    const query = (await this.#withIds(Object.fromEntries(examples))) as Record<string, string>
    return required.length > 0 ? `?${new URLSearchParams(query)}` : ''
  }

  async bodyOf({ key, operation }: RegisteredOperation, path: string): Promise<unknown> {
    if (operation.example === undefined && !(key in MADE_MEMBERS)) return undefined
    const make = this.#make.bind(this)
    const made = await MADE_MEMBERS[key]?.(make, path, this.#service)
    const example = { ...operation.example, ...made, ...this.#variants[key] }
    const body = (await this.#withIds(example)) as { fromWalletId?: string }
    // The paying wallet needs money.
    if (body.fromWalletId) await this.#succeed(byKey('fund.wallet'), `/wallets/${body.fromWalletId}/fund`)
    return body
  }

  send({ operation }: RegisteredOperation, path: string, options: RequestOptions): Promise<HttpResponse> {
    return this.#service.http(operation.method, path, options)
  }

  async #succeed(registered: RegisteredOperation, parameterPath: string): Promise<HttpResponse> {
    const params = registered.operation.path.includes('{') ? parameterPath.split('/') : []
    const path = registered.operation.path
      .split('/')
      .map((part: string, index: number) => (part.startsWith('{') ? (params[index] ?? part) : part))
      .join('/')
    const body = await this.bodyOf(registered, path)
    const answer = await this.send(registered, path, {
      ...credentials(registered, this.owner),
      ...(body ? { body } : {}),
    })
    if (answer.status >= 300) throw new Error(`${registered.key}: ${answer.text}`)
    // An agent needs money for its intents to be approved.
    if (registered.key === 'agents.create')
      await this.#succeed(byKey('fund.wallet'), `/wallets/${answer.body.walletId}/fund`)
    return answer
  }

  async #make(method: string, path: string, body?: object): Promise<HttpResponse['body']> {
    const answer = await this.#service.http(method, path, {
      token: this.owner.key,
      ...(body ? { body } : {}),
    })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`, { cause: answer })
    return answer.body
  }

  /** The path with the ids of existing records, each within the one before it. */
  async #fill(path: string): Promise<string> {
    const from = path.indexOf('{')
    if (from === -1) return path
    const to = path.indexOf('}', from)
    const id = await this.#idIn(path.slice(0, from - 1), path.slice(from + 1, to))
    return this.#fillRest(path.slice(0, from), id, path.slice(to + 1))
  }

  async #fillRest(filled: string, id: string, rest: string): Promise<string> {
    const from = rest.indexOf('{')
    if (from === -1) return filled + id + rest
    const to = rest.indexOf('}', from)
    const collection = filled + id + rest.slice(0, from - 1)
    const template = `${filled.slice(0, -1)}/{id}${rest.slice(0, from - 1)}`
    const cause = CAUSED_WITHIN[template]
    const inner = await this.#once(collection, () =>
      cause ? cause(this, id) : this.#create(operationAt('POST', template), collection),
    )
    return this.#fillRest(`${collection}/`, inner, rest.slice(to + 1))
  }

  #idIn(collection: string, name: string): Promise<string> {
    return this.#once(`${collection}/${name}`, () => this.#newIdIn(collection, name))
  }

  async #newIdIn(collection: string, name: string): Promise<string> {
    const cause = CAUSED[collection]
    if (cause) return cause(this)
    const post = operationAt('POST', collection)
    if (post) return this.#create(post, collection)
    const page = LINKED_FROM[collection]
    const list = page ? byKey(page) : operationAt('GET', collection)
    if (!list) return this.idOf(name.replace(/Id$/, ''))
    const filler = FILLING_OPERATIONS[collection]
    if (filler) await this.#do(filler)
    const { body, text } = await this.#succeed(list, collection)
    return body
      ? (body.data[0].id ?? body.data[0][name])
      : (new RegExp(`"${collection}/([^"?#/]+)["?#]`).exec(text)?.[1] ?? unknownId(name))
  }

  async #do(key: string): Promise<void> {
    const path = await this.#fill(byKey(key).operation.path)
    const before = REQUIRED_BEFORE[key]
    if (before) await this.#succeed(byKey(before), path)
    await this.#succeed(byKey(key), path)
  }

  async #create(post: RegisteredOperation | undefined, path: string): Promise<string> {
    if (!post) throw new Error(`nothing is created at ${path}`)
    return (await this.#succeed(post, path)).body.id
  }

  async waitingDelivery(): Promise<string> {
    await this.#do('webhooks.create')
    await storeDeliveries(this.#service)
    const { body } = await this.#succeed(byKey('webhooks.allDeliveries'), '/webhooks/deliveries')
    return body.data[0].id
  }

  idOf(prefix: string): Promise<string> {
    return this.#once(prefix, () => this.#newIdOf(prefix))
  }

  async #newIdOf(prefix: string): Promise<string> {
    const special = SPECIAL_RECORDS[prefix]
    if (special) return this.#createSpecial(special)
    const creator = operations.find(
      registered =>
        registered.operation.method === 'POST' &&
        !registered.operation.path.includes('{') &&
        prefixOf(registered) === prefix,
    )
    return creator ? this.#create(creator, creator.operation.path) : unknownId(prefix)
  }

  async #createSpecial({ by, body, idIn }: SpecialRecord): Promise<string> {
    return idIn(await this.#call(by, body))
  }

  async #call(key: string, members: object): Promise<HttpResponse['body']> {
    const registered = byKey(key)
    const body =
      registered.operation.method === 'GET'
        ? {}
        : { body: { ...((await this.bodyOf(registered, '')) as object | undefined), ...members } }
    return (
      await this.send(registered, registered.operation.path, {
        ...credentials(registered, this.owner),
        ...body,
      })
    ).body
  }

  async frozenByRisk(): Promise<{ id: string; agentId: string }> {
    const thresholds = { review: 50, deny: 80, freeze: 95 }
    await this.#call('risk.configure', { thresholds, weights: { newMerchant: 100 } })
    await this.#call('intents.create', {})
    await this.#call('risk.configure', { thresholds, weights: {} })
    return (await this.#call('risk.alerts', {})).data[0]
  }

  /** A separate session, so that the owner's stays open. */
  signedIn(): Promise<SignedIn> {
    return signedInTo(this.#service, this.owner, { role: 'viewer' })
  }

  async paidByCard(cardId: string): Promise<string> {
    await networkBefore(this.#service).authorize(cardId, 25)
    return (await this.#succeed(byKey('authorizations.list'), `/cards/${cardId}`)).body.data[0].id
  }

  async metMerchant(): Promise<string> {
    const merchant = `shop${this.owner.ownerId.replace(/[^a-z]/g, '')}`
    const body = {
      agentId: await this.idOf('agent'),
      merchant,
      amountEuros: 90_000,
      purpose: 'A shelf',
    }
    const { id, status } = await this.#make('POST', '/intents', body)
    if (status === 'created') await this.#make('POST', `/intents/${id}/deny`, { reason: 'Too dear' })
    return merchant
  }

  async deviceLetIn(): Promise<string> {
    return (await aDeviceLetIn(this.#make.bind(this), this.#service)).id
  }

  connectedAssistant(): Promise<string> {
    return aConnectedAssistant(this.#make.bind(this), this.#service)
  }

  proposedChangeRequest(): Promise<string> {
    return aChangeRequest(this.#make.bind(this), this.#service)
  }

  proposed(): Promise<string> {
    return aProposal(this.#service.url, this.owner.key)
  }

  talked(): Promise<string> {
    return aConversation(this.#service.url, this.owner.key)
  }

  async waitingTerminal(): Promise<string> {
    return (await aTerminal(clientAt({ url: this.#service.url }))).code
  }

  async askedChallenge(): Promise<string> {
    const subject = { name: 'Grace Hopper', role: 'approver' }
    return (await this.#make('POST', '/passkeys/challenge', { purpose: 'invitation', subject })).challengeId
  }

  enrolledPasskey(): Promise<string> {
    return aPasskey(this.#make.bind(this), this.#service)
  }

  askedForMoney(): Promise<string> {
    return this.#create(byKey('collect.create'), '/collect/requests')
  }

  async paidByMachine(): Promise<string> {
    const { status, body, text } = await pay(`${this.#service.url}/collect/402/${await this.askedForMoney()}`)
    if (status !== 200) throw new Error(text)
    return body.settlementId
  }

  async #withIds(value: unknown): Promise<unknown> {
    if (typeof value === 'string') {
      const prefix = EXAMPLE.exec(value)?.[1]
      return prefix ? this.idOf(prefix) : value
    }
    if (Array.isArray(value)) return Promise.all(value.map(item => this.#withIds(item)))
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).map(
      async ([name, member]) => [name, await this.#withIds(member)] as const,
    )
    return Object.fromEntries(await Promise.all(members))
  }
}

function cached<T>(entries: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const value = entries.get(name) ?? make()
  entries.set(name, value)
  return value
}

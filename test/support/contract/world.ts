import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { published } from '../../../src/kernel/contract/area.ts'
import type { Registered } from '../../../src/kernel/contract/operation.ts'
import {
  DASHBOARD_SECRET,
  type HttpResponse,
  type Owner,
  type RequestOptions,
  type TestService,
} from '../harness.ts'
import { BEFORE, FILLED_BY, LINKED_FROM, MADE_AS, MADE_WITH, type Made } from './world-needs.ts'

export const operations = published(areas)

/** What is found here has come to be by what an agent did. */
const HAPPENED: Readonly<Record<string, (world: World) => Promise<string>>> = {
  '/risk/agents': async world => (await world.frozenByRisk()).agentId,
  '/risk/alerts': async world => (await world.frozenByRisk()).id,
}

/** An id as the contracts' examples write it. */
const EXAMPLE = /^([a-z]+)_01jd8x2m4ye7k9v0c3q5r6t8wz$/
export const unknownId = (prefix: string): string => `${prefix}_01jd8x2m4ye7k9v0c3q5r6t8wz`

export interface Prepared {
  readonly path: string
  readonly body: unknown
}

const byKey = (key: string): Registered => {
  const found = operations.find(one => one.key === key)
  if (!found) throw new Error(`there is no ${key}`)
  return found
}

const at = (method: string, path: string): Registered | undefined =>
  operations.find(({ operation }) => operation.method === method && operation.path === path)

/** The prefix of the ids that an operation returns. */
function prefixOf({ operation }: Registered): string | undefined {
  const schema = operation.returns[1]
  const example = schema instanceof z.ZodObject ? schema.shape.id?.meta()?.examples?.[0] : undefined
  return EXAMPLE.exec(String(example))?.[1]
}

/** How this owner proves who it is to an operation. */
export const credentials = ({ operation }: Registered, { key }: Pick<Owner<never>, 'key'>): RequestOptions =>
  operation.callers.includes('key')
    ? { token: key }
    : operation.callers.includes('dash')
      ? { headers: { 'x-dashboard-secret': DASHBOARD_SECRET } }
      : {}

interface WorldOptions {
  /** What was made is taken again: for requests that change nothing. */
  readonly keeps?: boolean
}

/** One owner's records, made by the contracts' own examples when an operation needs them. */
export class World {
  readonly #service: Pick<TestService, 'http'>
  readonly owner: Owner<typeof areas>
  readonly #prepared: Map<string, Promise<Prepared>> | undefined
  readonly #kept = new Map<string, Promise<string>>()
  #keeps = false
  #madeAs: Readonly<Record<string, object>> = {}

  constructor(
    service: Pick<TestService, 'http'>,
    owner: Owner<typeof areas>,
    { keeps = false }: WorldOptions = {},
  ) {
    this.#service = service
    this.owner = owner
    this.#prepared = keeps ? new Map() : undefined
  }

  /** An address and a body with which the operation succeeds. */
  prepare(one: Registered): Promise<Prepared> {
    if (!this.#prepared) return this.#prepare(one)
    // What something is done to first, or is made in its own way, is of no use to others.
    const isOfItsOwn = Object.keys(HAPPENED).some(collection => one.operation.path.startsWith(collection))
    this.#keeps = !(one.key in BEFORE || one.key in MADE_AS || isOfItsOwn)
    return remembered(this.#prepared, one.key, () => this.#prepare(one))
  }

  #once(what: string, make: () => Promise<string>): Promise<string> {
    return this.#keeps ? remembered(this.#kept, what, make) : make()
  }

  async #prepare(one: Registered): Promise<Prepared> {
    this.#madeAs = MADE_AS[one.key] ?? {}
    const path = (await this.#fill(one.operation.path)) + (await this.#queryOf(one))
    const body = await this.bodyOf(one)
    const before = BEFORE[one.key]
    if (before) await this.#succeed(byKey(before), path)
    return { path, body }
  }

  /** What a query must say, by the examples of its members. */
  async #queryOf({ operation }: Registered): Promise<string> {
    const members = Object.entries<z.ZodType>(operation.query?.shape ?? {})
    // A key says whose it is where an agent's own token need not.
    const isKeys = (name: string) => name === 'agentId' && 'agent_required' in (operation.fails ?? {})
    const asked = members.filter(([name, member]) => isKeys(name) || !member.safeParse(undefined).success)
    const examples = asked.map(([name, member]) => [name, Object.values(member.meta()?.examples ?? [])[0]])
    const query = (await this.#withIds(Object.fromEntries(examples))) as Record<string, string>
    return asked.length > 0 ? `?${new URLSearchParams(query)}` : ''
  }

  async bodyOf({ key, operation }: Registered): Promise<unknown> {
    if (operation.example === undefined) return undefined
    const example = { ...operation.example, ...this.#madeAs[key] }
    const body = (await this.#withIds(example)) as { fromWalletId?: string }
    // Whoever is to pay has money.
    if (body.fromWalletId) await this.#succeed(byKey('fund.wallet'), `/wallets/${body.fromWalletId}/fund`)
    return body
  }

  send({ operation }: Registered, path: string, options: RequestOptions): Promise<HttpResponse> {
    return this.#service.http(operation.method, path, options)
  }

  async #succeed(one: Registered, like: string): Promise<HttpResponse> {
    const params = one.operation.path.includes('{') ? like.split('/') : []
    const path = one.operation.path
      .split('/')
      .map((part: string, index: number) => (part.startsWith('{') ? (params[index] ?? part) : part))
      .join('/')
    const body = await this.bodyOf(one)
    const answer = await this.send(one, path, { ...credentials(one, this.owner), ...(body ? { body } : {}) })
    if (answer.status >= 300) throw new Error(`${one.key}: ${answer.text}`)
    // An agent without money gets nothing approved.
    if (one.key === 'agents.create')
      await this.#succeed(byKey('fund.wallet'), `/wallets/${answer.body.walletId}/fund`)
    return answer
  }

  /** The path with the ids of records that are there, each within the one before it. */
  async #fill(path: string): Promise<string> {
    const from = path.indexOf('{')
    if (from === -1) return path
    const to = path.indexOf('}', from)
    const id = await this.#idIn(path.slice(0, from - 1), path.slice(from + 1, to))
    return this.#fillRest(path.slice(0, from), id, path.slice(to + 1))
  }

  async #fillRest(done: string, id: string, rest: string): Promise<string> {
    const from = rest.indexOf('{')
    if (from === -1) return done + id + rest
    const to = rest.indexOf('}', from)
    const collection = done + id + rest.slice(0, from - 1)
    const template = `${done.slice(0, -1)}/{id}${rest.slice(0, from - 1)}`
    const inner = await this.#once(collection, () => this.#made(at('POST', template), collection))
    return this.#fillRest(`${collection}/`, inner, rest.slice(to + 1))
  }

  /** What is in this collection: a new record, one that is listed, what a page refers to; or what the name says. */
  #idIn(collection: string, name: string): Promise<string> {
    return this.#once(`${collection}/${name}`, () => this.#newIdIn(collection, name))
  }

  async #newIdIn(collection: string, name: string): Promise<string> {
    const happened = HAPPENED[collection]
    if (happened) return happened(this)
    const post = at('POST', collection)
    if (post) return this.#made(post, collection)
    const page = LINKED_FROM[collection]
    const list = page ? byKey(page) : at('GET', collection)
    if (!list) return this.idOf(name.replace(/Id$/, ''))
    const filler = FILLED_BY[collection]
    if (filler) await this.#do(filler)
    const { body, text } = await this.#succeed(list, collection)
    return body
      ? (body.data[0].id ?? body.data[0][name])
      : (new RegExp(`"${collection}/([^"?#/]+)["?#]`).exec(text)?.[1] ?? unknownId(name))
  }

  async #do(key: string): Promise<void> {
    const path = await this.#fill(byKey(key).operation.path)
    const before = BEFORE[key]
    if (before) await this.#succeed(byKey(before), path)
    await this.#succeed(byKey(key), path)
  }

  async #made(post: Registered | undefined, path: string): Promise<string> {
    if (!post) throw new Error(`nothing is made at ${path}`)
    return (await this.#succeed(post, path)).body.id
  }

  /** A record of the noun whose ids begin like this. */
  idOf(prefix: string): Promise<string> {
    return this.#once(prefix, () => this.#newIdOf(prefix))
  }

  async #newIdOf(prefix: string): Promise<string> {
    const special = MADE_WITH[prefix]
    if (special) return this.#madeWith(special)
    const maker = operations.find(
      one => one.operation.method === 'POST' && !one.operation.path.includes('{') && prefixOf(one) === prefix,
    )
    return maker ? this.#made(maker, maker.operation.path) : unknownId(prefix)
  }

  async #madeWith({ by, body, idIn }: Made): Promise<string> {
    return idIn(await this.#ask(by, body))
  }

  /** What comes back where more is asked for than an example says. */
  async #ask(key: string, members: object): Promise<HttpResponse['body']> {
    const one = byKey(key)
    const body =
      one.operation.method === 'GET'
        ? {}
        : { body: { ...((await this.bodyOf(one)) as object | undefined), ...members } }
    return (await this.send(one, one.operation.path, { ...credentials(one, this.owner), ...body })).body
  }

  /** The alert of an agent that was frozen for what every agent does once: it has paid somebody new. */
  async frozenByRisk(): Promise<{ id: string; agentId: string }> {
    const thresholds = { review: 50, deny: 80, freeze: 95 }
    await this.#ask('risk.configure', { thresholds, weights: { newMerchant: 100 } })
    await this.#ask('intents.create', {})
    await this.#ask('risk.configure', { thresholds, weights: {} })
    return (await this.#ask('risk.alerts', {})).data[0]
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

function remembered<T>(all: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const known = all.get(name) ?? make()
  all.set(name, known)
  return known
}

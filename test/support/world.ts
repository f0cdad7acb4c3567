import { z } from 'zod'
import { areas } from '../../src/areas.ts'
import { published, type Registered } from '../../src/kernel/area.ts'
import { type Asked, DASHBOARD_SECRET, type Owner, type TestHouse, type Told } from './harness.ts'

export const operations = published(areas)

/** What must have been done before, to the same record, for an operation to succeed. */
const BEFORE: Readonly<Record<string, string>> = {
  'agents.unfreeze': 'agents.freeze',
  'policies.effective': 'policies.assign',
  'policies.toggle': 'policies.assign',
}

/** What fills a collection in which nothing is made by a request of its own. */
const FILLED_BY: Readonly<Record<string, string>> = {
  '/ledger/accounts': 'wallets.fund',
  '/ledger/transfers': 'wallets.fund',
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
export const credentials = ({ operation }: Registered, { key }: Pick<Owner<never>, 'key'>): Asked =>
  operation.callers.includes('key')
    ? { token: key }
    : operation.callers.includes('dash')
      ? { headers: { 'x-dashboard-secret': DASHBOARD_SECRET } }
      : {}

/** One owner's records, made by the contracts' own examples when an operation needs them. */
export class World {
  readonly #house: Pick<TestHouse, 'http'>
  readonly owner: Owner<typeof areas>

  constructor(house: Pick<TestHouse, 'http'>, owner: Owner<typeof areas>) {
    this.#house = house
    this.owner = owner
  }

  /** An address and a body with which the operation succeeds. */
  async prepare(one: Registered): Promise<Prepared> {
    const path = await this.#fill(one.operation.path)
    const before = BEFORE[one.key]
    if (before) await this.#succeed(byKey(before), path)
    return { path, body: await this.bodyOf(one) }
  }

  async bodyOf({ operation }: Registered): Promise<unknown> {
    if (operation.example === undefined) return undefined
    const body = (await this.#withIds(operation.example)) as { fromWalletId?: string }
    // Whoever is to pay has money.
    if (body.fromWalletId) await this.#succeed(byKey('wallets.fund'), `/wallets/${body.fromWalletId}/fund`)
    return body
  }

  send({ operation }: Registered, path: string, asked: Asked): Promise<Told> {
    return this.#house.http(operation.method, path, asked)
  }

  async #succeed(one: Registered, like: string): Promise<Told> {
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
      await this.#succeed(byKey('wallets.fund'), `/wallets/${answer.body.walletId}/fund`)
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
    const inner = await this.#made(at('POST', template), collection)
    return this.#fillRest(`${collection}/`, inner, rest.slice(to + 1))
  }

  /** What is in this collection: a new record, one that is listed, what a page refers to; or what the name says. */
  async #idIn(collection: string, name: string): Promise<string> {
    const post = at('POST', collection)
    if (post) return this.#made(post, collection)
    const list = at('GET', collection)
    if (!list) return this.idOf(name.replace(/Id$/, ''))
    const filler = FILLED_BY[collection]
    if (filler) await this.#succeed(byKey(filler), await this.#fill(byKey(filler).operation.path))
    const { body, text } = await this.#succeed(list, collection)
    return body ? body.data[0].id : (new RegExp(`"${collection}/([^"?]+)`).exec(text)?.[1] ?? unknownId(name))
  }

  async #made(post: Registered | undefined, path: string): Promise<string> {
    if (!post) throw new Error(`nothing is made at ${path}`)
    return (await this.#succeed(post, path)).body.id
  }

  /** A new record of the noun whose ids begin like this. */
  async idOf(prefix: string): Promise<string> {
    const maker = operations.find(
      one => one.operation.method === 'POST' && !one.operation.path.includes('{') && prefixOf(one) === prefix,
    )
    return maker ? this.#made(maker, maker.operation.path) : unknownId(prefix)
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

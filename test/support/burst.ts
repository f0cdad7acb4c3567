import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from '@jest/globals'
import { type HttpResponse, http } from './harness.ts'
import { queryValues } from './rows.ts'

export interface CreateRequest {
  readonly kind: 'agents' | 'policies' | 'intents' | 'transfers'
  readonly body: object
}

export interface Create extends CreateRequest {
  readonly name: string
  readonly key: string | null
  /** Undefined if the connection was lost. */
  readonly response: HttpResponse | undefined
  readonly failure: string | undefined
  readonly milliseconds: number
}

export interface Burst {
  readonly creates: readonly Create[]
  succeeded(): number
  stop(): Promise<readonly Create[]>
}

let bursts = 0

const agentOrPolicy = (number: number, name: string): CreateRequest => ({
  kind: number % 3 === 0 ? 'policies' : 'agents',
  body: { name },
})

/** Intents of an agent that may spend ten euros on its own, so every seventh one waits for a person. */
export const intentsOf =
  (agentId: string) =>
  (number: number, merchant: string): CreateRequest => ({
    kind: 'intents',
    body: { agentId, merchant, purpose: 'A paper on caching', amountEuros: number % 7 === 0 ? 25 : 5 },
  })

/** Transfers of one euro each, distinguished by reference. */
export const transfersOf =
  (fromWalletId: string, toWalletId: string) =>
  (_: number, reference: string): CreateRequest => ({
    kind: 'transfers',
    body: { fromWalletId, toWalletId, amountEuros: 1, reference },
  })

/** A refused lane waits as long as a client would before its next request. */
const PATIENCE_MS = 25

/**
 * Sends creates in several lanes until stopped, every second one with an Idempotency-Key. `restMs` is a
 * lane's pause after a success, so that a slow test sends no more requests than it needs.
 */
export function burst(
  url: string,
  token: string,
  { lanes = 12, requestFor = agentOrPolicy, restMs = 0 } = {},
): Burst {
  const creates: Create[] = []
  const run = `burst-${++bursts}`
  let count = 0
  let isStopped = false
  async function lane(): Promise<void> {
    while (!isStopped) {
      const number = ++count
      const name = `${run}-${number}`
      const key = number % 2 === 0 ? name : null
      const outcome = await create(url, token, { ...requestFor(number, name), name, key })
      creates.push(outcome)
      const pause = outcome.response?.status === 201 ? restMs : PATIENCE_MS
      if (pause > 0) await sleep(pause)
    }
  }
  const ended = Promise.all(Array.from({ length: lanes }, lane))
  return {
    creates,
    succeeded: () => creates.filter(({ response }) => response?.status === 201).length,
    async stop() {
      isStopped = true
      await ended
      return creates
    },
  }
}

export async function create(
  url: string,
  token: string,
  { kind, body, name, key }: CreateRequest & Pick<Create, 'name' | 'key'>,
): Promise<Create> {
  const began = performance.now()
  const headers = key ? { 'idempotency-key': key } : {}
  const sent = http(url, 'POST', `/${kind}`, { token, body, headers })
  const [response, failure] = await sent.then(
    answer => [answer, undefined] as const,
    error => [undefined, String(error.cause?.code ?? error)] as const,
  )
  return { kind, body, name, key, response, failure, milliseconds: performance.now() - began }
}

export const hasStatus = (status: number) => (entry: Create) => entry.response?.status === status

const TRACES = `
select count(*)::int,
  count(*) filter (where exists (select from events where created.id in (data ->> 'agentId', data ->> 'policyId')))::int,
  count(*) filter (where exists (select from events where resource_id = created.id))::int
from unnest($1::text[]) as created(id)
where id in (select id from agents union all select id from policies)`

export const NAMES = 'select name from agents union all select name from policies'

/** Checks that every create answered with 201 is stored once, with its event. */
export async function expectStored(databaseUrl: string, creates: readonly Create[]): Promise<void> {
  const ids = creates.filter(hasStatus(201)).map(({ response }) => response?.body.id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(await queryValues(databaseUrl, TRACES, [ids])).toEqual([ids.length, ids.length, ids.length])
  const names = await queryValues(databaseUrl, NAMES)
  expect(new Set(names).size).toBe(names.length)
}

import { setTimeout as sleep } from 'node:timers/promises'
import { http, type Told } from './harness.ts'

/** What is asked for, and where. */
export interface Wish {
  readonly kind: 'agents' | 'policies' | 'intents' | 'transfers'
  readonly body: object
}

/** One create of a burst, and what became of it. */
export interface Create extends Wish {
  /** No two have the same. */
  readonly name: string
  readonly key: string | null
  /** Undefined where there was no answer. */
  readonly told: Told | undefined
  /** Why there was none. */
  readonly failure: string | undefined
  readonly milliseconds: number
}

export interface Burst {
  /** What has been answered so far. */
  readonly creates: readonly Create[]
  /** How many of them with 201. */
  made(): number
  /** Sends no more, and waits for what is under way. */
  stop(): Promise<readonly Create[]>
}

let bursts = 0

const agentOrPolicy = (number: number, name: string): Wish => ({
  kind: number % 3 === 0 ? 'policies' : 'agents',
  body: { name },
})

/** Intents of an agent that may spend ten euros by itself: every seventh one waits for a person. */
export const intentsOf =
  (agentId: string) =>
  (number: number, merchant: string): Wish => ({
    kind: 'intents',
    body: { agentId, merchant, purpose: 'A paper on caching', amountEuros: number % 7 === 0 ? 25 : 5 },
  })

/** Transfers of one euro each, which their references tell apart. */
export const transfersOf =
  (fromWalletId: string, toWalletId: string) =>
  (_: number, reference: string): Wish => ({
    kind: 'transfers',
    body: { fromWalletId, toWalletId, amountEuros: 1, reference },
  })

/** A lane that has been turned away asks again as soon as a client would, and not as soon as it can. */
const PATIENCE_MS = 25

/**
 * Creates, every second one with an Idempotency-Key, in so many lanes until it is stopped. A lane rests so long between
 * two of them: while something else takes its time, no more is asked than there is to learn from.
 */
export function burst(
  url: string,
  token: string,
  { lanes = 12, wish = agentOrPolicy, restMs = 0 } = {},
): Burst {
  const creates: Create[] = []
  const run = `burst-${++bursts}`
  let begun = 0
  let over = false
  async function lane(): Promise<void> {
    while (!over) {
      const number = ++begun
      const name = `${run}-${number}`
      const key = number % 2 === 0 ? name : null
      const one = await create(url, token, { ...wish(number, name), name, key })
      creates.push(one)
      const pause = one.told?.status === 201 ? restMs : PATIENCE_MS
      if (pause > 0) await sleep(pause)
    }
  }
  const ended = Promise.all(Array.from({ length: lanes }, lane))
  return {
    creates,
    made: () => creates.filter(({ told }) => told?.status === 201).length,
    async stop() {
      over = true
      await ended
      return creates
    },
  }
}

/** Asks once; a lost connection is an outcome like any other. */
export async function create(
  url: string,
  token: string,
  { kind, body, name, key }: Wish & Pick<Create, 'name' | 'key'>,
): Promise<Create> {
  const began = performance.now()
  const headers = key ? { 'idempotency-key': key } : {}
  const asked = http(url, 'POST', `/${kind}`, { token, body, headers })
  const [told, failure] = await asked.then(
    answer => [answer, undefined] as const,
    error => [undefined, String(error.cause?.code ?? error)] as const,
  )
  return { kind, body, name, key, told, failure, milliseconds: performance.now() - began }
}

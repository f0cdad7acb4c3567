import { MAX_CONCURRENT_MINTS } from '../../../src/commerce/mpp/pay/ask.ts'
import { measure, type Result } from '../case.ts'
import { answerOf, type Served } from '../child.ts'
import type { Job, Measured } from '../load/load.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { PAYING_SECONDS, payable, payingCase } from './payments.ts'

const CONNECTIONS = 8
/** Both sides are measured in turn, and the calmest round of each counts: the machine has other work too. */
const ROUNDS = usualOrShort(3, 1)

export interface Beside {
  readonly alone: Result
  readonly beside: Result
}

/** Waits until the limit of open requests to one merchant is reached; each waits for longer than the round takes. */
async function holdDead(stage: Stage, api: Served, dead: Served): Promise<Measured> {
  return answerOf<Measured>('test/bench/load/load.ts', {
    url: api.url,
    method: 'POST',
    path: '/v1/mpp/pay',
    token: stage.token,
    body: { url: `${dead.url}/silent`, intentId: 'intent_card_{n}' },
    numbers: { ...(await payable(stage, MAX_CONCURRENT_MINTS * 4)), inOrder: true },
    connections: MAX_CONCURRENT_MINTS,
    seconds: PAYING_SECONDS + 2,
  } satisfies Job)
}

const calmest = (results: readonly Result[]): Result =>
  results.reduce((best, other) => (other.p99 < best.p99 ? other : best))

/**
 * Payments to a responsive merchant, with and without the maximum number of requests waiting for a silent
 * one. Further requests are refused at once; a client that retries without a pause would be additional load,
 * so none does, and both sides have the same number of busy connections.
 */
export async function measureBesideTheDead(
  stage: Stage,
  api: Served,
  merchant: Served,
  dead: Served,
): Promise<Beside> {
  const paying = payingCase(stage, api, `${merchant.url}/report`, 'paid beside a dead merchant')
  const alone: Result[] = []
  const beside: Result[] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await measure(stage, paying, CONNECTIONS, PAYING_SECONDS))
    const waiting = holdDead(stage, api, dead)
    beside.push(await measure(stage, paying, CONNECTIONS, PAYING_SECONDS))
    await waiting
  }
  return { alone: calmest(alone), beside: calmest(beside) }
}

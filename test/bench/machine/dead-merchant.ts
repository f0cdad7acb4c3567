import { measure, type Result } from '../case.ts'
import { answerOf, type Served } from '../child.ts'
import type { Job, Measured } from '../load/load.ts'
import type { Stage } from '../stage.ts'
import { PAYING_SECONDS, payable, payingCase } from './payments.ts'

const CONNECTIONS = 8
/** The payments that wait at once for a merchant that never answers. */
const WAITING = 100

export interface Beside {
  readonly alone: Result
  readonly beside: Result
}

/** Payments to a merchant that answers, alone and while many wait for one that never does. */
export async function measureBesideTheDead(
  stage: Stage,
  api: Served,
  merchant: Served,
  dead: Served,
): Promise<Beside> {
  const paying = payingCase(stage, api, `${merchant.url}/report`, 'paid beside a dead merchant')
  const alone = await measure(stage, paying, CONNECTIONS, PAYING_SECONDS)
  const waiting = answerOf<Measured>('test/bench/load/load.ts', {
    url: api.url,
    method: 'POST',
    path: '/v1/mpp/pay',
    token: stage.token,
    body: { url: `${dead.url}/silent`, intentId: 'intent_card_{n}' },
    numbers: { ...(await payable(stage, WAITING * 20)), inOrder: true },
    connections: WAITING,
    seconds: PAYING_SECONDS + 3,
  } satisfies Job)
  const beside = await measure(stage, paying, CONNECTIONS, PAYING_SECONDS)
  await waiting
  return { alone, beside }
}

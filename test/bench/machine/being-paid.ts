import { printLine } from '../../../src/platform/output.ts'
import { type Case, measure, type Result } from '../case.ts'
import { answerOf } from '../child.ts'
import { AGENTS } from '../database/intent-rows.ts'
import type { Measured } from '../load/load.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage } from '../stage.ts'
import { PAYING_CONNECTIONS, PAYING_SECONDS, payable } from './payments.ts'
import type { SettlerJob } from './settler.ts'

const SETTLED = usualOrShort(400, 60)

export interface BeingPaid {
  readonly connections: number
  /** Challenges, and a plain read of one row for comparison. */
  readonly asked: Result
  readonly read: Result
  /** By a test token of a card, and by shared tokens of our own cards. */
  readonly settled: Measured
  readonly shared: Measured
}

/** Requests for money of a euro each, and where programs pay them. */
export async function requestUrls(stage: Stage, count: number): Promise<string[]> {
  const { id: walletId } = await post(stage.api, '/wallets', { name: 'Sales' }, bearer(stage))
  const urls: string[] = []
  for (let n = 0; n < count; n++) {
    const body = { walletId, amountEuros: 1, description: `Report ${n}`, expiresInHours: 24 }
    const { id } = await post(stage.api, '/collect/requests', body, bearer(stage))
    urls.push(`${stage.api.url}/collect/402/${id}`)
  }
  return urls
}

async function settle(stage: Stage, job: Omit<SettlerJob, 'urls'>): Promise<Measured> {
  const urls = await requestUrls(stage, SETTLED)
  const settled = await answerOf<Measured>('test/bench/machine/settler.ts', { ...job, urls })
  if (settled.failed > 0) throw new Error(`${settled.failed} requests were not paid`)
  return settled
}

/** Challenges and settlements per second, of the service as a payee. */
export async function measureBeingPaid(stage: Stage): Promise<BeingPaid[]> {
  const { api: server, token } = stage
  const [standing = ''] = await requestUrls(stage, 1)
  const { pathname: path } = new URL(standing)
  const asking: Case = {
    name: 'asked for a challenge',
    title: 'asked for a challenge',
    server,
    request: () => ({ method: 'GET', path, token: '', status: 402, expects: 'Payment id=' }),
  }
  const reading: Case = {
    name: 'one row read',
    title: 'one row read',
    server,
    request: () => ({
      method: 'GET',
      path: '/policies/policy_bench_{n}',
      token,
      numbers: { from: 1, to: AGENTS },
    }),
  }
  const rounds: BeingPaid[] = []
  for (const connections of PAYING_CONNECTIONS) {
    const read = await measure(stage, reading, connections, PAYING_SECONDS)
    const asked = await measure(stage, asking, connections, PAYING_SECONDS)
    const settled = await settle(stage, { connections, payer: null })
    const { from } = await payable(stage, SETTLED)
    const shared = await settle(stage, { connections, payer: { apiUrl: server.url, token, from } })
    rounds.push({ connections, asked, read, settled, shared })
    const rates = Object.entries({ read, asked, settled, shared }).map(
      ([name, { perSecond }]) => `${name} ${Math.round(perSecond)}`,
    )
    printLine(`  ${connections} connections: ${rates.join(', ')}`)
  }
  return rounds
}

import { sandboxCardId } from '../../../src/adapters/card-processor/sandbox-numbers.ts'
import { intentMerchantKey } from '../../../src/control/merchants/index.ts'
import { type ChargeMethod, chargeMethods } from '../../../src/mpp/index.ts'
import { printLine } from '../../../src/platform/output.ts'
import { deriveSecrets } from '../../../src/ports/vault.ts'
import { type Case, measure, type Result } from '../case.ts'
import { answerOf, node, type Served, serve } from '../child.ts'
import { addCovered, CARDS, fillCards } from '../database/card-rows.ts'
import { fillAgents, type Numbered } from '../database/intent-rows.ts'
import type { Measured } from '../load/load.ts'
import { usualOrShort } from '../short.ts'
import { ENCRYPTION_KEY, type Stage, withClient } from '../stage.ts'
import type { PayerJob } from './payer.ts'

export const PAYING_CONNECTIONS = usualOrShort([1, 8, 32], [1, 8])
export const PAYING_SECONDS = usualOrShort(4, 1)
/** More than one measurement pays. */
const INTENTS = usualOrShort(4_000, 1_000)

const NUMBERED = `
update card_numbers n set processor_card_id = w.name
from unnest($2::text[], $3::text[]) as w (id, name) where n.owner_id = $1 and n.id = w.id`

/** Agents whose cards exist in the sandbox, which issues their tokens. */
export async function fillPayers(stage: Stage): Promise<void> {
  await fillAgents(stage)
  await fillCards(stage)
  const secrets = deriveSecrets('sandbox card numbers', ENCRYPTION_KEY)
  const numbers = Array.from({ length: CARDS }, (_, n) => 1 + n)
  const names = numbers.map(number => sandboxCardId(secrets, `bench ${number}`, new Date()))
  await withClient(stage, client =>
    client.query(NUMBERED, [stage.ownerId, numbers.map(number => `cardnumber_bench_${number}`), names]),
  )
}

const FOR_HOST = `
update intents set merchant = '127.0.0.1', merchant_key = $4
where owner_id = $1 and id = any(select 'intent_card_' || n from generate_series($2::int, $3::int) as n)`

export async function payable(stage: Stage, count = INTENTS): Promise<Numbered> {
  const numbers = await addCovered(stage, count, CARDS)
  const key = intentMerchantKey('127.0.0.1')
  await withClient(stage, client => client.query(FOR_HOST, [stage.ownerId, numbers.from, numbers.to, key]))
  return numbers
}

/** Payments with `POST /v1/mpp/pay` of this API, each on its own intent. */
export const payingCase = (stage: Stage, server: Served, url: string, name: string): Case => ({
  name,
  title: name,
  server,
  request: async () => ({
    method: 'POST',
    path: '/v1/mpp/pay',
    token: stage.token,
    body: { url, intentId: 'intent_card_{n}' },
    numbers: { ...(await payable(stage)), inOrder: true },
    expects: '"receipt":"ey',
  }),
})

export interface Paid {
  readonly method: ChargeMethod
  readonly connections: number
  /** With a Temporal run only for open outcomes, and with one for each payment. */
  readonly open: Result
  readonly all: Result
  readonly bare: Measured
  readonly mppx: Measured
}

export async function openMerchant(stage: Stage, name: string): Promise<Served> {
  const merchant = await serve(node('test/bench/machine/merchant.ts'), `${stage.folder}/${name}.log`, {})
  stage.closeLater(merchant.stop)
  return merchant
}

/** The API configured for hundreds of payments a second. */
export async function openApi(stage: Stage): Promise<Served> {
  const env = { ...stage.env, MPP_WORKFLOWS: 'request' }
  const api = await serve(node('test/bench/server.ts'), `${stage.folder}/api-open.log`, env)
  stage.closeLater(api.stop)
  return api
}

/** Each method with each number of connections. */
export const both = (connections: readonly number[]): [ChargeMethod, number][] =>
  chargeMethods.flatMap(method => connections.map(number => [method, number] as [ChargeMethod, number]))

/** Payments per second to one merchant, ours and those of clients without a service, in turn. */
export async function measurePaid(stage: Stage, open: Served, merchant: Served): Promise<Paid[]> {
  const rounds: Paid[] = []
  for (const [method, connections] of both(PAYING_CONNECTIONS)) {
    const url = `${merchant.url}${method === 'card' ? '/report' : '/shared'}`
    const client = (name: PayerJob['client']) =>
      answerOf<Measured>('test/bench/machine/payer.ts', {
        url,
        client: name,
        method,
        connections,
        seconds: PAYING_SECONDS,
      } satisfies PayerJob)
    const ours = (server: Served, name: string) =>
      measure(stage, payingCase(stage, server, url, name), connections, PAYING_SECONDS)
    const round = {
      method,
      connections,
      bare: await client('bare'),
      open: await ours(open, 'paid'),
      all: await ours(stage.api, 'paid with runs'),
      mppx: await client('mppx'),
    }
    rounds.push(round)
    const rates = (['bare', 'open', 'all', 'mppx'] as const).map(
      name => `${name} ${Math.round(round[name].perSecond)}`,
    )
    printLine(`  ${method}, ${connections} connections: ${rates.join(', ')}`)
  }
  return rounds
}

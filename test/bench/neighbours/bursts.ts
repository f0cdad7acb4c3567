import { addPerson } from '../cases/approval-cases.ts'
import { usualOrShort } from '../short.ts'
import { post as ask, bearer, newOwner, type Stage, withClient } from '../stage.ts'
import type { Burst, BurstRequest } from './busy.ts'

export type Work = Pick<Burst, 'requests' | 'countMs'>

/** What three addresses may send in a minute, if the operator changes nothing. */
const ALLOWED = 300
const DOWNLOADS = 24
/** The intents of the busy owner, each of which waits for a person. */
const INTENTS = usualOrShort(5_000, 200)
const PAYMENTS = usualOrShort(500, 20)
const PAYERS = 10
const LARGE_BYTES = 200_000
/** Members that no operation knows. */
const UNKNOWN = 2_000

const json = { 'content-type': 'application/json' }
const ofProtocol = { ...json, accept: 'application/json, text/event-stream' }

const times = (request: BurstRequest, count = ALLOWED): Work => ({
  requests: Array.from({ length: count }, () => request),
})

const get = (path: string, headers: BurstRequest['headers'] = {}): Work =>
  times({ method: 'GET', path, headers })

const post = (path: string, body: object | string, headers: BurstRequest['headers'] = json): Work =>
  times({ method: 'POST', path, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })

/** An owner with intents that wait, a card, and a person. */
interface Busy {
  readonly stage: Stage
  readonly key: Readonly<Record<string, string>>
  readonly person: Readonly<Record<string, string>>
  readonly agentId: string
  readonly intentId: string
  readonly cardId: string
}

/** `merchantUrl` is of one that answers 503. */
export async function burstsOf(stage: Stage, merchantUrl: string): Promise<Readonly<Record<string, Work>>> {
  const busy = await busyOwner(stage)
  return {
    ...readsOf(busy),
    ...assistantsOf(busy),
    ...pagesOf(busy),
    ...writesOf(busy),
    ...(await paymentsOf(busy, merchantUrl)),
  }
}

async function busyOwner(of: Stage): Promise<Busy> {
  const stage: Stage = { ...of, ...(await newOwner(of.api, 1)) }
  const key = { ...bearer(stage), ...json }
  const { id: agentId = '' } = await ask(stage.api, '/agents', { name: 'Busy' }, key)
  const intent = { agentId, amountEuros: 75, merchant: 'Bookshop', purpose: 'A paper on caching' }
  const { id: intentId = '' } = await ask(stage.api, '/intents', intent, key)
  await withClient(stage, client => client.query(COPIES, [stage.ownerId, INTENTS]))
  const card = { agentId, displayName: 'Books', usage: 'multi', activate: true }
  const { id: cardId = '' } = await ask(stage.api, '/cards', card, key)
  const { cookie } = await addPerson(stage)
  const person = { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html' }
  return { stage, key, person, agentId, intentId, cardId }
}

const COPIES = `insert into intents
  select (jsonb_populate_record(i, jsonb_build_object('id', 'intent_busy_' || n, 'workflow_id', 'intent/intent_busy_' || n))).*
  from intents i, generate_series(1, $2::int) as n where owner_id = $1`

const readsOf = ({ key, intentId }: Busy): Readonly<Record<string, Work>> => ({
  'lists of 1': get('/intents?limit=1', key),
  'lists of 20': get('/intents', key),
  'lists of 100': get('/intents?limit=100', key),
  'lists of transactions': get('/transactions', key),
  'the usage of policies': get('/policies/usage', key),
  'lists of events': get('/events', key),
  'GET /intents/{id}': get(`/intents/${intentId}`, key),
})

function assistantsOf({ key, intentId }: Busy): Readonly<Record<string, Work>> {
  const call = (method: string, params: object): Work =>
    post('/mcp', { jsonrpc: '2.0', id: 1, method, params }, { ...key, ...ofProtocol })
  const tool = (name: string, given: object): Work => call('tools/call', { name, arguments: given })
  return {
    'list_intents of 20': tool('list_intents', {}),
    'list_intents of 100': tool('list_intents', { limit: 100 }),
    'the list of tools': call('tools/list', {}),
    'a wait of two seconds': tool('wait_for_intent', { intentId, seconds: 2 }),
    'a message of the canvas': post('/canvas/messages', { message: 'What is waiting?' }, key),
  }
}

const pagesOf = ({ key, person, intentId }: Busy): Readonly<Record<string, Work>> => ({
  'the page of an approval': get(`/approve/${intentId}`, person),
  'the home page': get('/console', person),
  'a search of the console': get('/console/search?q=bookshop', person),
  [`${DOWNLOADS} downloads`]: { requests: get('/console/csv/intents', person).requests.slice(0, DOWNLOADS) },
  'openapi.json': get('/openapi.json'),
  'a search of the docs': get('/docs/search?q=mandate'),
  'a statement to verify': post('/.well-known/verify', { statement: `${'e30.'.repeat(2)}AA` }),
  'no key': get('/intents'),
  'the options of a sign-in': post(
    '/console/sign-in/options',
    {},
    { ...json, 'sec-fetch-site': 'same-origin' },
  ),
  'the test clock': post('/simulate/clock/advance', { seconds: 60 }, key),
})

function writesOf({ key, agentId, cardId }: Busy): Readonly<Record<string, Work>> {
  const intent = { agentId, amountEuros: 75, merchant: 'Bookshop', purpose: 'A paper on caching' }
  const unknown = Object.fromEntries(Array.from({ length: UNKNOWN }, (_, n) => [`member${n}`, n]))
  const policy = { name: 'Books', maxTransactionEuros: 50 }
  return {
    'an intent declared': post('/intents', intent, key),
    'an intent simulated': post('/policies/simulate', { policy, amountEuros: 25, merchant: 'Bookshop' }, key),
    'broken JSON': post('/intents', '{"agentId": ', key),
    'unknown members': post('/intents', { ...intent, ...unknown }, key),
    'a card authorization': post(
      '/simulate/card/authorize',
      { cardId, amountEuros: 5, merchant: 'Bookshop', mcc: '5942', country: 'DE' },
      key,
    ),
    'a large body': post(
      '/v1/mpp/pay',
      { url: 'https://shop.example.com/', body: 'x'.repeat(LARGE_BYTES) },
      key,
    ),
  }
}

async function paymentsOf({ stage, key }: Busy, url: string): Promise<Readonly<Record<string, Work>>> {
  const create = (path: string, body: object) => ask(stage.api, path, body, key)
  const policy = await create('/policies', { name: 'Machines', autoApproveLimitEuros: 10 })
  const wallet = await create('/wallets', { name: 'Machines' })
  await create(`/wallets/${wallet.id}/fund`, { amountEuros: 9_000 })
  const requests: BurstRequest[] = []
  for (let payer = 0; payer < PAYERS; payer++) {
    const { id: agentId } = await create('/agents', { name: `Payer ${payer}`, policyId: policy.id })
    await create(`/agents/${agentId}/fund`, { amountEuros: 800, fromWalletId: wallet.id })
    const card = { agentId, displayName: 'Machines', usage: 'multi', activate: true }
    const { id: cardId } = await create('/cards', card)
    const intent = { agentId, amountEuros: 5, merchant: new URL(url).hostname, purpose: 'An answer' }
    for (let payment = 0; payment < PAYMENTS / PAYERS; payment++) {
      const { id: intentId } = await create('/intents', intent)
      const body = JSON.stringify({ url, intentId, cardId })
      requests.push({
        method: 'POST',
        path: '/v1/mpp/pay',
        headers: { ...key, prefer: 'respond-async' },
        body,
      })
    }
  }
  return { [`${PAYMENTS} payments at a busy merchant`]: { requests } }
}

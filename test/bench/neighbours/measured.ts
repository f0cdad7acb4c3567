import { type Case, measure, type Result } from '../case.ts'
import { addPerson } from '../cases/approval-cases.ts'
import { intentCases } from '../cases/intent-cases.ts'
import { answerOf } from '../child.ts'
import { AGENTS } from '../database/intent-rows.ts'
import { median } from '../load/beside.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { post as ask, bearer, newOwner, type Stage, withClient } from '../stage.ts'
import type { Burst, BurstRequest, BurstResult } from './busy.ts'

const ROUNDS = usualOrShort(5, 1)
const SECONDS = usualOrShort(3, 2)
const CONNECTIONS = 8
/** Far below the service's capacity, so that the other owner's own number does not slow it down. */
const STEADY = 50
/** The requests that one address may send in a minute, if the operator changes nothing. */
const ALLOWED = 100
const DOWNLOADS = 24
/** The intents of the busy owner, each of which waits for a person. */
const INTENTS = usualOrShort(5_000, 200)
/** Load and burst begin together, and the load's first answers are not counted. */
const WARM_UP_MS = 700

const ALONE = 'alone'
/** As long as a hundred pages of the console take. */
const COUNT_MS = 3_000

type Work = Pick<Burst, 'requests' | 'countMs'>

interface Measured {
  readonly load: string
  readonly beside: string
  readonly results: Result[]
  readonly bursts: BurstResult[]
}

/**
 * How long an owner's `POST /intents` and a GET take while another owner sends what the default limit allows for a
 * minute, all at once, against their time alone in the same run, in turns. Both owners' requests come from processes
 * of their own. Two loops that only count show how much of the difference is the machine's.
 */
export async function measureNeighbours(stage: Stage): Promise<Section> {
  const loads = await loadsOf(stage)
  const bursts: Readonly<Record<string, Work>> = {
    [ALONE]: { requests: [] },
    'two loops that count': { requests: [], countMs: COUNT_MS },
    ...(await burstsOf(stage)),
  }
  const all = Object.keys(bursts).flatMap(beside =>
    loads.map(({ name: load }): Measured => ({ load, beside, results: [], bursts: [] })),
  )
  // The first ones load code, and start the thread that reads.
  for (const { requests } of Object.values(bursts))
    await sendBurst(stage, { requests: requests.slice(0, 2) }, 0)
  for (let round = 0; round < ROUNDS; round++)
    for (const [beside, work] of Object.entries(bursts))
      for (const load of loads) {
        const [result, burst] = await measureBeside(stage, load, work)
        const measured = all.find(one => one.load === load.name && one.beside === beside)
        measured?.results.push(result)
        if (burst) measured?.bursts.push(burst)
      }
  return sectionOf(loads, all)
}

async function loadsOf(stage: Stage): Promise<Case[]> {
  const [intents] = (await intentCases(stage)) as [Case]
  const { api: server, token } = stage
  const read: Case = {
    name: 'read',
    title: 'GET /agents/{id}',
    server,
    request: () => ({
      method: 'GET',
      path: '/agents/agent_bench_{n}',
      token,
      numbers: { from: 1, to: AGENTS },
    }),
  }
  return [intents, read].map(one => ({
    ...one,
    request: async () => ({ ...(await one.request()), arrivalsPerSecond: STEADY }),
  }))
}

async function burstsOf(stage: Stage): Promise<Readonly<Record<string, Work>>> {
  const busy: Stage = { ...stage, ...(await newOwner(stage.api, 1)) }
  await addIntents(busy)
  const { cookie } = await addPerson(busy)
  const key = { ...bearer(busy), 'content-type': 'application/json' }
  const person = { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html' }
  const get = (path: string, headers: BurstRequest['headers'] = person): BurstRequest => ({
    method: 'GET',
    path,
    headers,
  })
  const post = (path: string, body: object, headers: BurstRequest['headers'] = key): BurstRequest => ({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify(body),
  })
  const times = (request: BurstRequest, count = ALLOWED): Work => ({
    requests: Array.from({ length: count }, () => request),
  })
  return {
    'lists of 100': times(get('/intents?limit=100', key)),
    'lists of 100 by MCP': times(post('/mcp', listIntents, { ...key, ...ofProtocol })),
    'the list of tools': times(
      post('/mcp', { ...listIntents, method: 'tools/list', params: {} }, { ...key, ...ofProtocol }),
    ),
    'a search of the console': times(get('/console/search?q=bookshop')),
    'the inbox': times(get('/console/inbox')),
    'the home page': times(get('/console')),
    'the test clock': times(post('/simulate/clock/advance', { seconds: 60 })),
    [`${DOWNLOADS} downloads`]: times(get('/console/csv/intents'), DOWNLOADS),
  }
}

const COPIES = `insert into intents
  select (jsonb_populate_record(i, jsonb_build_object('id', 'intent_busy_' || n, 'workflow_id', 'intent/intent_busy_' || n))).*
  from intents i, generate_series(1, $2::int) as n where owner_id = $1`

/** An agent whose intents all wait for a person, as without a policy. */
async function addIntents(busy: Stage): Promise<void> {
  const { id: agentId } = await ask(busy.api, '/agents', { name: 'Busy' }, bearer(busy))
  const intent = { agentId, amountEuros: 75, merchant: 'Bookshop', purpose: 'A paper on caching' }
  await ask(busy.api, '/intents', intent, bearer(busy))
  await withClient(busy, client => client.query(COPIES, [busy.ownerId, INTENTS]))
}

const ofProtocol = { accept: 'application/json, text/event-stream' }
const listIntents = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list_intents', arguments: { limit: 100 } },
}

async function measureBeside(stage: Stage, load: Case, work: Work) {
  return Promise.all([measure(stage, load, CONNECTIONS, SECONDS), sendBurst(stage, work, WARM_UP_MS)])
}

async function sendBurst({ api: { url } }: Stage, work: Work, afterMs: number) {
  const connections = work.requests.length
  if (connections === 0 && !work.countMs) return undefined
  const burst: Burst = { url, afterMs, connections, ...work }
  return answerOf<BurstResult>('test/bench/neighbours/busy.ts', burst)
}

function sectionOf(loads: readonly Case[], all: readonly Measured[]): Section {
  const figures = all.map(({ load, beside, results, bursts }) => ({
    load,
    beside,
    p50: median(results.map(({ p50 }) => p50)),
    p99: median(results.map(({ p99 }) => p99)),
    longest: median(results.map(({ longest }) => longest)),
    burstMs: bursts.length > 0 ? median(bursts.map(({ milliseconds }) => milliseconds)) : null,
    statuses: bursts[0]?.statuses ?? {},
  }))
  const lines = loads.flatMap(({ name, title }) => {
    const ofLoad = figures.filter(({ load }) => load === name)
    const alone = ofLoad.find(({ beside }) => beside === ALONE)?.p99 ?? Number.NaN
    return [
      tableLine([`${title}, ${STEADY} a second`, 'p50/p99', 'p99 of that alone', 'the burst']),
      ...ofLoad.map(({ beside, p50, p99, burstMs, statuses }) =>
        tableLine([
          beside,
          `${p50.toFixed(1)}/${p99.toFixed(1)} ms`,
          (p99 / alone).toFixed(2),
          burstMs === null ? '' : `${burstMs.toFixed(0)} ms ${JSON.stringify(statuses)}`,
        ]),
      ),
    ]
  })
  return {
    figures: { neighbours: figures },
    text: [`beside another owner’s burst, the median of ${ROUNDS} rounds`, ...lines].join('\n'),
  }
}

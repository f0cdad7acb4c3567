import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Case, measure, type Result } from '../case.ts'
import { intentCases } from '../cases/intent-cases.ts'
import { answerOf } from '../child.ts'
import { AGENTS } from '../database/intent-rows.ts'
import { median } from '../load/beside.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { burstsOf, type Work } from './bursts.ts'
import type { Burst, BurstResult } from './busy.ts'

const ROUNDS = usualOrShort(3, 1)
const SECONDS = usualOrShort(3, 2)
const CONNECTIONS = 8
/** Far below the service's capacity, so that the other owner's own number does not slow it down. */
const STEADY = 50
/** Load and burst begin together, and the load's first answers are not counted. */
const WARM_UP_MS = 700

const ALONE = 'alone'
/** As long as a hundred pages of the console take. */
const COUNT_MS = 3_000

interface Measured {
  readonly load: string
  readonly beside: string
  readonly results: Result[]
  readonly bursts: BurstResult[]
}

/**
 * How long an owner's `POST /intents` and a GET take while another owner sends what the default limit allows three
 * addresses for a minute, all at once, against their time alone in the same run, in turns. Both owners' requests come from processes
 * of their own. Two loops that only count show how much of the difference is the machine's.
 */
export async function measureNeighbours(stage: Stage): Promise<Section> {
  const loads = await loadsOf(stage)
  const bursts: Readonly<Record<string, Work>> = {
    [ALONE]: { requests: [] },
    'two loops that count': { requests: [], countMs: COUNT_MS },
    ...(await burstsOf(stage, await startBusyMerchant(stage))),
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

/** It answers each request with 503. */
async function startBusyMerchant({ closeLater }: Stage): Promise<string> {
  const merchant = createServer((_, answer) => answer.writeHead(503).end()).listen(0, '127.0.0.1')
  await once(merchant, 'listening')
  closeLater(async () => void merchant.close())
  return `http://127.0.0.1:${(merchant.address() as AddressInfo).port}/report`
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

async function measureBeside(stage: Stage, load: Case, work: Work) {
  return Promise.all([measure(stage, load, CONNECTIONS, SECONDS), sendBurst(stage, work, WARM_UP_MS)])
}

/** A program's argument could not hold it. */
async function sendBurst({ api: { url }, folder }: Stage, work: Work, afterMs: number) {
  const connections = work.requests.length
  if (connections === 0 && !work.countMs) return undefined
  const burst: Burst = { url, afterMs, connections, ...work }
  const file = join(folder, 'burst.json')
  writeFileSync(file, JSON.stringify(burst))
  return answerOf<BurstResult>('test/bench/neighbours/busy.ts', { file })
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

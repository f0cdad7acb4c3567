import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { removePostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { removePostgresPaths } from '../../../src/dev/postgres/paths.ts'
import { signalPostmaster } from '../../../src/dev/postgres/server.ts'
import { findTemporal } from '../../../src/dev/temporal/binary.ts'
import { startTemporal } from '../../../src/dev/temporal/server.ts'
import { printLine } from '../../../src/platform/output.ts'
import { type Cell, DASHBOARD_SECRET, type Place, restartApi } from '../../production/cells/cell.ts'
import { type Cells, startCells } from '../../production/cells/cells.ts'
import type { Moved } from '../../production/cells/move.ts'
import { queryValues } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { answerOf } from '../child.ts'
import { type DatabaseClock, databaseClock } from '../database/database-time.ts'
import { AGENTS, fillAgents } from '../database/intent-rows.ts'
import { median } from '../load/beside.ts'
import type { Job, Measured } from '../load/load.ts'
import { ratio, type Section, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Steady, SteadyJob } from './steady-load.ts'

const CLIENTS = 32
const ROUNDS = usualOrShort(4, 1)
const ROUND_SECONDS = usualOrShort(2, 1)
/** Sealing and counting follow within this time. */
const SETTLED_MS = 1_500
const STEADY_SECONDS = usualOrShort(24, 12)
/** When the disturbance begins, after the load. */
const BEFORE_MS = usualOrShort(4_000, 2_000)
const API_IS_AWAY_MS = 1_000

interface OwnerOfCell {
  readonly cell: Cell
  readonly ownerId: string
  readonly token: string
}

/** Two cells behind HAProxy beside one node: processor time, and a load while a cell moves and processes are killed. */
export async function measureCells(home: string): Promise<Section> {
  const search = await findTemporal({ env: process.env, tell: printLine })
  if (search.binary === null) return { figures: {}, text: `cells: left out. ${search.reason}` }
  const folder = join(home, 'cells')
  mkdirSync(folder)
  const closers: (() => Promise<void>)[] = []
  const closeLater: Place['closeLater'] = close => closers.push(close)
  const newFolder = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path)
    // For an interrupted bench: as root, PostgreSQL's data is in another folder, too.
    process.once('exit', () => removePostgresPaths(path))
    closeLater(() => removePostgres(path))
    return path
  }
  try {
    const temporal = await startTemporal({
      binary: search.binary,
      dataDir: folder,
      ports: { grpc: 0, ui: 0 },
    })
    closeLater(() => temporal.stop())
    const place = { folder, newFolder, temporalAddress: temporal.address, closeLater }
    return await measure(await startCells(place), place)
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

async function measure(cells: Cells, place: Place): Promise<Section> {
  const { proxy, first, second } = cells
  const [ofFirst, ofSecond] = [await ownerOf(first), await ownerOf(second)]
  const owners = [ofFirst, ofSecond]
  const price = await measurePrice(cells, owners)
  const capacity = (await load(proxy.url, owners, 2 * CLIENTS)).perSecond
  const perSecond = Math.floor(capacity / 2)
  const half = { url: proxy.url, perSecond, seconds: STEADY_SECONDS, owners }
  const moved = await disturbed('moved', half, () => cells.moveSecond())
  const after = [ofFirst, { ...ofSecond, cell: moved.disturbance.cell }]
  await expectStored('moved', moved.steady, after)
  const killed = await disturbed('killed', half, () => kill(first, moved.disturbance.cell, place))
  await expectStored('killed', killed.steady, after)
  const { times } = moved.disturbance
  const figures = { ...price, capacity, perSecond, times, moved: moved.steady, killed: killed.steady }
  return { figures: { cells: figures }, text: textOf(figures) }
}

/** Processor time of all processes of both cells for a request, in microseconds. */
interface Price {
  readonly one: number
  /** By as many clients, so that each cell has half of them. */
  readonly two: number
  /** By twice as many, so that each cell has as many as the one node. */
  readonly twice: number
  /** HAProxy's share of `twice`. */
  readonly proxy: number
}

/** One cell without HAProxy, and both behind it, in turns. */
async function measurePrice({ proxy, first, second }: Cells, owners: readonly OwnerOfCell[]): Promise<Price> {
  const databases = [await databaseClock(first.database.url), await databaseClock(second.database.url)]
  const programs = [first, second].flatMap(({ programs: { api, relay, worker } }) => [api, relay, worker])
  const clocks = [...databases, ...[...programs, proxy.process].map(({ cpuSeconds }) => cpuSeconds)]
  const priceOf = async (url: string, of: readonly OwnerOfCell[], clients: number) => {
    const before = { all: sumOf(clocks), proxy: proxy.process.cpuSeconds() }
    const { sent } = await load(url, of, clients)
    await sleep(SETTLED_MS)
    const each = (seconds: number): number => (seconds * 1e6) / sent
    return { all: each(sumOf(clocks) - before.all), proxy: each(proxy.process.cpuSeconds() - before.proxy) }
  }
  const rounds: Price[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const one = await priceOf(first.programs.api.url, owners.slice(0, 1), CLIENTS)
    const two = await priceOf(proxy.url, owners, CLIENTS)
    const twice = await priceOf(proxy.url, owners, 2 * CLIENTS)
    rounds.push({ one: one.all, two: two.all, twice: twice.all, proxy: twice.proxy })
    printLine(`  ${Object.entries(rounds.at(-1) ?? {}).map(([name, µs]) => `${name} ${wholeNumber(µs)} µs`)}`)
  }
  // The first round warms both up.
  const middle = (of: keyof Price): number => median(rounds.slice(1).map(round => round[of]))
  return { one: middle('one'), two: middle('two'), twice: middle('twice'), proxy: middle('proxy') }
}

const sumOf = (clocks: readonly DatabaseClock[]): number => clocks.reduce((sum, read) => sum + read(), 0)

async function load(url: string, owners: readonly OwnerOfCell[], connections: number): Promise<Measured> {
  const body = {
    agentId: 'agent_bench_{n}',
    amountEuros: 9.5,
    merchant: 'Bookshop {each}',
    purpose: 'A paper on caching',
  }
  const requests = owners.map(({ token }) => ({ token, body }))
  const numbers = { from: 1, to: AGENTS }
  const job: Job = {
    ...{ url, connections, seconds: ROUND_SECONDS, method: 'POST', path: '/intents' },
    ...{ token: '', requests, numbers, keys: true },
  }
  const measured = await answerOf<Measured>('test/bench/load/load.ts', job)
  if (measured.failed > 0)
    throw new Error(`${measured.failed} answers were failures, first ${measured.failure}`)
  return measured
}

interface Disturbed<T> {
  readonly steady: Steady
  readonly disturbance: T
}

type Half = Omit<SteadyJob, 'run' | 'owners'> & { readonly owners: readonly OwnerOfCell[] }

async function disturbed<T>(run: string, half: Half, disturb: () => Promise<T>): Promise<Disturbed<T>> {
  const owners = half.owners.map(({ token }) => ({ token, agents: AGENTS }))
  const load = answerOf<Steady>('test/bench/cells/steady-load.ts', {
    ...half,
    owners,
    run,
  } satisfies SteadyJob)
  const disturbance = sleep(BEFORE_MS).then(disturb)
  const [steady, done] = await Promise.all([load, disturbance])
  printLine(`  ${run}: ${timesText(steady)}`)
  return { steady, disturbance: done }
}

/** Kills the API of one cell, which comes back after a second, and the PostgreSQL of the other, which comes back at once. */
async function kill(first: Cell, second: Cell, place: Place): Promise<void> {
  await second.programs.api.kill()
  await sleep(API_IS_AWAY_MS)
  await restartApi(second, place)
  signalPostmaster(join(realpathSync(join(first.database.dataDir, 'postgres')), 'data'), 'SIGKILL')
}

const STORED = `
select count(*)::int, count(distinct merchant)::int,
  (select count(*)::int from events where event = 'intent.created'
    and resource_id in (select id from intents where merchant like $1))
from intents where merchant like $1`

/** Each request is stored once, in the cell of its owner, with its event; the ledger and the audit trail verify. */
async function expectStored(run: string, steady: Steady, owners: readonly OwnerOfCell[]): Promise<void> {
  for (const [n, { cell, token }] of owners.entries()) {
    const sent = steady.owners[n]?.sent
    const stored = await queryValues(cell.database.url, STORED, [`${run}-%`])
    if (stored.some(count => count !== sent)) throw new Error(`${cell.name}: ${sent} sent, ${stored} stored`)
    for (const [method, path] of VERIFICATIONS)
      await until(`${path} of ${cell.name}`, () => isVerified(cell, { method, path, token }))
  }
}

const VERIFICATIONS = [
  ['POST', '/ledger/verify'],
  ['GET', '/audit/verify'],
] as const

interface Verification {
  readonly method: string
  readonly path: string
  readonly token: string
}

async function isVerified({ programs }: Cell, { method, path, token }: Verification): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(programs.api.url + path, { method, headers })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return ((await answer.json()) as { ok: boolean }).ok
}

async function ownerOf(cell: Cell): Promise<OwnerOfCell> {
  const { api } = cell.programs
  const response = await fetch(`${api.url}/customers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-dashboard-secret': DASHBOARD_SECRET },
    body: JSON.stringify({ name: 'Bench', email: 'bench@example.com', type: 'business', country: 'DE' }),
  })
  if (!response.ok) throw new Error(await response.text())
  const { id: ownerId, key: token } = (await response.json()) as { id: string; key: string }
  await fillAgents({ api, ownerId, token, databaseUrl: cell.database.url })
  return { cell, ownerId, token }
}

const timesText = ({ all, repeats }: Steady): string =>
  `${wholeNumber(all.sent)} requests, each stored once; p50 ${wholeNumber(all.p50)} ms, p99 ${wholeNumber(all.p99)} ms, longest ${wholeNumber(all.longest)} ms; repeated after ${JSON.stringify(repeats)}`

const awayText = (times: Moved['times']): string =>
  Object.entries(times)
    .map(([name, ms]) => `${wholeNumber(ms)} (${name})`)
    .join(' + ')

interface Figures extends Price {
  readonly capacity: number
  readonly perSecond: number
  readonly times: Moved['times']
  readonly moved: Steady
  readonly killed: Steady
}

const textOf = ({ one, two, twice, proxy, capacity, perSecond, times, moved, killed }: Figures): string =>
  [
    `POST /intents, processor time of all processes for one request, the median of ${ROUNDS} rounds:`,
    `  one node, ${CLIENTS} clients: ${wholeNumber(one)} µs`,
    `  two cells behind HAProxy, ${CLIENTS} clients: ${wholeNumber(two)} µs, ${ratio(two, one)} times`,
    `  the same, ${2 * CLIENTS} clients: ${wholeNumber(twice)} µs, ${ratio(twice, one)} times; HAProxy takes ${wholeNumber(proxy)} µs`,
    `both cells take ${wholeNumber(capacity)} requests a second; at ${perSecond} a second for ${STEADY_SECONDS} s:`,
    `  a cell moved to another PostgreSQL, and was away for ${awayText(times)} ms: ${timesText(moved)}`,
    `  an API process and a PostgreSQL were killed, and came back: ${timesText(killed)}`,
  ].join('\n')

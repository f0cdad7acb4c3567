import { printLine } from '../../src/platform/output.ts'
import { type Case, measure, type Request, type Result } from './case.ts'
import { AGENTS, addWaiting, fillAgents } from './database/intent-rows.ts'
import { fillPast, HOT } from './database/past-intents.ts'
import { onSizes } from './database/sizes.ts'
import { ratio, type Section, tableLine, wholeNumber } from './report.ts'
import { type Stage, withClient } from './stage.ts'

const SIZES = [1_000, 10_000, 100_000, 1_000_000]
const CONNECTIONS = 32
const SECONDS = 1.5
/** How often all sizes are measured in turn; the cheapest round counts. */
const ROUNDS = 3
/** More intents than one measurement approves. */
const WAITING = 8_000

type Best = Map<string, Result>

const titles = {
  intents: 'POST /intents, 1,000 agents',
  intent: 'POST /intents, one hot agent',
  approve: 'POST /intents/{id}/approve',
  explanation: 'GET /intents/{id}/explanation',
  cancel: 'POST /intents/{id}/cancel',
  list: 'GET /intents?agentId=, 1,000 agents',
  hotList: 'GET /intents?agentId=, one hot agent',
  waiting: 'GET /intents?agentId=&status=created, one hot agent',
  simulate: 'POST /policies/simulate, 1,000 agents',
} as const
type Name = keyof typeof titles

const declaration = {
  agentId: 'agent_bench_{n}',
  amountEuros: 9.5,
  merchant: 'Bookshop {each}',
  purpose: 'A paper on caching',
}
const simulation = { agentId: 'agent_bench_{n}', amountEuros: 9.5, merchant: 'Bookshop' }

const any = { from: 1, to: AGENTS }
const hot = { from: HOT, to: HOT }

/** The requests that need no new records. */
const requests: Partial<Record<Name, Pick<Request, 'method' | 'path' | 'body' | 'keys' | 'numbers'>>> = {
  intents: { method: 'POST', path: '/intents', body: declaration, keys: true, numbers: any },
  intent: { method: 'POST', path: '/intents', body: declaration, keys: true, numbers: hot },
  list: { method: 'GET', path: '/intents?agentId=agent_bench_{n}', numbers: any },
  hotList: { method: 'GET', path: '/intents?agentId=agent_bench_{n}', numbers: hot },
  waiting: { method: 'GET', path: '/intents?status=created&agentId=agent_bench_{n}', numbers: hot },
  simulate: { method: 'POST', path: '/policies/simulate', body: simulation, numbers: any },
}

/** Measures requests with few and with many past intents: their cost must not depend on the number. */
export function measureIntentSizes(folder: string): Promise<Section> {
  return onSizes(folder, SIZES, { what: 'past intents', fill }, async stages => {
    const sized = stages.map((stage, n) => ({ stage, past: SIZES[n] as number, best: new Map() as Best }))
    for (let round = 0; round < ROUNDS; round++)
      for (const { stage, past, best } of sized) {
        await loadAll(stage, best)
        printLine(`  ${wholeNumber(past)} past intents: ${summary(best)}`)
      }
    const intentSizes = sized.map(({ past, best }) => ({ past, results: [...best.values()] }))
    return { figures: { intentSizes }, text: tableOf(sized.map(({ best }) => best)) }
  })
}

async function fill(stage: Stage, past: number): Promise<void> {
  await fillAgents(stage)
  await fillPast(stage, past)
  await withClient(stage, client => client.query('vacuum analyze'))
}

async function loadAll(stage: Stage, best: Best): Promise<void> {
  const { api: server, token } = stage
  const load = async (name: Name, request: Omit<Request, 'token'>): Promise<Result> => {
    const benchCase: Case = { name, title: titles[name], server, request: () => ({ ...request, token }) }
    const result = await measure(stage, benchCase, CONNECTIONS, SECONDS)
    if (costOf(result) < costOf(best.get(name))) best.set(name, result)
    return result
  }
  for (const [name, request] of Object.entries(requests)) await load(name as Name, request)
  const { from, to } = await addWaiting(stage, WAITING)
  const post = { method: 'POST', body: {}, keys: true } as const
  const path = (step: string) => `/intents/intent_bench_{n}/${step}`
  const all = { ...post, path: path('approve'), numbers: { from, to, inOrder: true } }
  const { sent } = await load('approve', all)
  const approved = { from, to: from + sent - 1 }
  await load('explanation', { method: 'GET', path: path('explanation'), numbers: approved })
  await load('cancel', { ...post, path: path('cancel'), numbers: { ...approved, inOrder: true }, most: sent })
}

const costOf = (result: Result | undefined): number =>
  result ? result.cpuMicroseconds + result.databaseMicroseconds : Number.POSITIVE_INFINITY

const summary = (best: Best): string =>
  [...best.values()].map(result => `${result.name} ${wholeNumber(costOf(result))} µs`).join(', ')

function tableOf(sizes: readonly Best[]): string {
  const [smallest] = sizes
  const cell = (result: Result | undefined, least: Result | undefined): string =>
    result
      ? `${result.p50.toFixed(0)}/${result.p99.toFixed(0)} ${wholeNumber(costOf(result))}µs ${ratio(costOf(result), costOf(least))}`
      : '–'
  const row = (name: Name) =>
    tableLine([titles[name], ...sizes.map(best => cell(best.get(name), smallest?.get(name)))])
  return [
    'p50/p99 in ms, processor time of service and PostgreSQL for one request, how often that of the smallest size',
    tableLine(['past intents', ...SIZES.map(wholeNumber)]),
    ...(Object.keys(titles) as Name[]).map(row),
  ].join('\n')
}

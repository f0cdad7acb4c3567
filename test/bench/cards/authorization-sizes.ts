import { printLine } from '../../../src/platform/output.ts'
import { type Case, measure, type Request, type Result } from '../case.ts'
import { APPROVED, asking, clearing, doorRequest, NOTED, somePayments } from '../cases/authorization-cases.ts'
import { CARDS, fillCards } from '../database/card-rows.ts'
import { fillAgents } from '../database/intent-rows.ts'
import { fillPastAuthorizations, HOT } from '../database/past-authorizations.ts'
import { onSizes } from '../database/sizes.ts'
import { ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, withClient } from '../stage.ts'

const SIZES = usualOrShort([1_000, 10_000, 100_000, 1_000_000], [1_000, 10_000])
const CONNECTIONS = 32
const SECONDS = usualOrShort(1.5, 0.5)
/** How often all sizes are measured in turn; the cheapest round counts. */
const ROUNDS = usualOrShort(3, 1)

const titles = {
  payments: `authorizations, ${CARDS} agents`,
  payment: 'authorizations, one hot agent',
  intentPayments: `authorizations on intents, ${CARDS} agents`,
  clearings: 'clearings',
  list: 'GET /cards/{id}/authorizations, one hot card',
} as const
type Name = keyof typeof titles
type Best = Map<Name, Result>

/** Measures authorizations with few and with many past ones: their cost must not depend on the number. */
export function measureAuthorizationSizes(folder: string): Promise<Section> {
  return onSizes(folder, SIZES, { what: 'past authorizations', fill }, async stages => {
    const sized = stages.map((stage, n) => ({ stage, past: SIZES[n] as number, best: new Map() as Best }))
    for (let round = 0; round < ROUNDS; round++)
      for (const { stage, past, best } of sized) {
        await loadAll(stage, best)
        printLine(`  ${wholeNumber(past)} past authorizations: ${summary(best)}`)
      }
    const authorizationSizes = sized.map(({ past, best }) => ({ past, results: [...best.values()] }))
    return { figures: { authorizationSizes }, text: tableOf(sized.map(({ best }) => best)) }
  })
}

async function fill(stage: Stage, past: number): Promise<void> {
  await fillAgents(stage)
  await fillCards(stage)
  await fillPastAuthorizations(stage, past)
  await withClient(stage, client => client.query('vacuum analyze'))
}

async function loadAll(stage: Stage, best: Best): Promise<void> {
  const { api: server, token } = stage
  const load = async (name: Name, request: Request): Promise<Result> => {
    const benchCase: Case = { name, title: titles[name], server, request: () => request }
    const result = await measure(stage, benchCase, CONNECTIONS, SECONDS)
    if (costOf(result) < costOf(best.get(name))) best.set(name, result)
    return result
  }
  const some = (cover: 'covered' | 'uncovered', agents = CARDS) => somePayments(stage, cover, agents)
  const payments = await some('uncovered')
  const { sent } = await load('payments', doorRequest(asking('uncovered'), payments, CARDS, APPROVED))
  await load('payment', doorRequest(asking('uncovered'), await some('uncovered', 1), 1, APPROVED))
  await load('intentPayments', doorRequest(asking('covered'), await some('covered'), CARDS, APPROVED))
  const authorized = { from: payments.from, to: payments.from + sent - 1 }
  await load('clearings', { ...doorRequest(clearing, authorized, CARDS, NOTED), most: sent })
  await load('list', { method: 'GET', path: `/cards/card_bench_${HOT}/authorizations`, token })
}

const costOf = (result: Result | undefined): number =>
  result ? result.cpuMicroseconds + result.databaseMicroseconds : Number.POSITIVE_INFINITY

const summary = (best: Best): string =>
  [...best.values()].map(result => `${result.name} ${wholeNumber(costOf(result))} µs`).join(', ')

function tableOf(sizes: readonly Best[]): string {
  const [smallest] = sizes
  const ms = (time: number | null) => time?.toFixed(0) ?? '–'
  const cell = (result: Result | undefined, least: Result | undefined): string =>
    result
      ? `${ms(result.p50)}/${ms(result.p99)} ${wholeNumber(costOf(result))}µs ${ratio(costOf(result), costOf(least))}`
      : '–'
  const row = (name: Name) =>
    tableLine([titles[name], ...sizes.map(best => cell(best.get(name), smallest?.get(name)))])
  return [
    'p50/p99 in ms, processor time of service and PostgreSQL for one request, how often that of the smallest size',
    tableLine(['past authorizations', ...SIZES.map(wholeNumber)]),
    ...(Object.keys(titles) as Name[]).map(row),
  ].join('\n')
}

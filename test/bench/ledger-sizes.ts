import { printLine } from '../../src/platform/output.ts'
import { type Case, measure, type Result } from './case.ts'
import { fillWallets, transferCases, WALLETS } from './cases/transfer-cases.ts'
import { fillEntries } from './database/entry-rows.ts'
import { onSizes, secondsSince } from './database/sizes.ts'
import { type Section, tableLine, wholeNumber } from './report.ts'
import { bearer, post, type Stage } from './stage.ts'

const SIZES = [1_000, 100_000, 10_000_000]
const CONNECTIONS = 32
const SECONDS = 1.5
/** How often all sizes are measured in turn, as other load varies over time. The best round counts. */
const ROUNDS = 3

const loadsOf = (stage: Stage): { benchCase: Case; connections: number }[] => [
  ...transferCases(stage).map(benchCase => ({ benchCase, connections: CONNECTIONS })),
  {
    benchCase: {
      name: 'statement',
      title: 'GET …/entries, 100 of a wallet',
      server: stage.api,
      request: () => ({
        method: 'GET',
        path: '/ledger/accounts/account_bench_{n}/entries?limit=100',
        token: stage.token,
        numbers: { from: 1, to: WALLETS },
      }),
    },
    connections: 1,
  },
]

interface Sized {
  readonly entries: number
  readonly best: Map<string, Result>
  proof?: Proof
}

interface Proof {
  readonly seconds: number
  readonly before: Result
  readonly meanwhile: Result
}

/** Measures requests with few and with many ledger entries: their cost must not depend on the number. */
export async function measureSizes(folder: string): Promise<Section> {
  const sizes: Sized[] = SIZES.map(entries => ({ entries, best: new Map() }))
  await onSizes(folder, SIZES, { what: 'entries', fill }, async stages => {
    const all = sizes.map((sized, n) => [sized, stages[n] as Stage] as const)
    for (let round = 0; round < ROUNDS; round++)
      for (const [{ entries, best }, stage] of all) await loadAll(stage, entries, best)
    for (const [sized, stage] of all) sized.proof = await prove(stage)
  })
  const ledgerSizes = sizes.map(({ best, ...others }) => ({ ...others, results: [...best.values()] }))
  return { figures: { ledgerSizes }, text: tableOf(sizes) }
}

async function fill(stage: Stage, entries: number): Promise<void> {
  await fillWallets(stage)
  await fillEntries(stage, entries)
}

async function loadAll(stage: Stage, entries: number, best: Map<string, Result>): Promise<void> {
  const rates: string[] = []
  for (const { benchCase, connections } of loadsOf(stage)) {
    const result = await measure(stage, benchCase, connections, SECONDS)
    if (result.perSecond > (best.get(benchCase.name)?.perSecond ?? 0)) best.set(benchCase.name, result)
    rates.push(`${benchCase.name} ${wholeNumber(result.perSecond)}`)
  }
  printLine(`  ${wholeNumber(entries)} entries: ${rates.join(', ')}`)
}

async function prove(stage: Stage): Promise<Proof> {
  const [transfers] = transferCases(stage)
  const before = await measure(stage, transfers as Case, 1, SECONDS)
  const began = performance.now()
  const proof = post(stage.api, '/ledger/verify', {}, bearer(stage)).then(answer => {
    if (!answer.ok) throw new Error(`the ledger is not in order: ${JSON.stringify(answer)}`)
    return secondsSince(began)
  })
  const [seconds, meanwhile] = await Promise.all([proof, measure(stage, transfers as Case, 1, SECONDS)])
  return { seconds, before, meanwhile }
}

function tableOf(sizes: readonly Sized[]): string {
  const row = (title: string, cell: (sized: Sized) => string) => tableLine([title, ...sizes.map(cell)])
  const loaded = (title: string, name: string) => row(title, ({ best }) => summary(best.get(name)))
  return [
    row('entries in the ledger', ({ entries }) => wholeNumber(entries)),
    loaded(`POST /transfers, 1,000 wallets, ${CONNECTIONS} connections`, 'transfers'),
    loaded(`POST /transfers, one hot payer, ${CONNECTIONS} connections`, 'transfer'),
    loaded('GET /ledger/accounts/{id}/entries, 100 of them', 'statement'),
    row('POST /ledger/verify', ({ proof }) => `${proof?.seconds.toFixed(2)} s`),
    row('a transfer before it', ({ proof }) => summary(proof?.before)),
    row('a transfer meanwhile', ({ proof }) => summary(proof?.meanwhile)),
  ].join('\n')
}

const summary = (result: Result | undefined): string =>
  result ? `${wholeNumber(result.perSecond)}/s ${result.p50.toFixed(1)}/${result.p99.toFixed(1)} ms` : '–'

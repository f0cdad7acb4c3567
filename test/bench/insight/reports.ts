import { setTimeout as pause } from 'node:timers/promises'
import { bearer, type Stage, withClient } from '../stage.ts'

/** The reports that read sums, over thirty days; a forecast looks back over four hundred. */
export const REPORTS = {
  costs: '/analytics/agents/costs',
  merchants: '/analytics/merchants',
  allocation: '/analytics/allocation?groupBy=merchant',
  anomalies: '/analytics/anomalies',
  outcomes: '/outcomes/summary',
  forecast: '/forecast',
} as const
export type Report = keyof typeof REPORTS

/** The same sums from the payments themselves. */
const PLAIN = {
  costs: `select agent_id, (created_at at time zone 'UTC')::date, count(*), sum(amount_cents), sum(refunded_cents)`,
  merchants: 'select merchant, count(*), sum(amount_cents), sum(refunded_cents)',
}

const FROM = `
from transactions where owner_id = $1 and mode = 'test' and created_at >= current_date - 29 and created_at < current_date + 1
  and type not in ('collect', 'refund') and status in ('settlement', 'settled', 'completed', 'refunded')`

export interface Reading {
  readonly milliseconds: number
  /** Pages of PostgreSQL, cached or not. */
  readonly blocks: number
}

const BLOCKS = `
select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))::int as blocks
from pg_statio_user_tables where relname in ('spend_cells', 'spend_counted', 'spend_position', 'transactions',
  'transaction_refunds', 'merchant_names', 'intents', 'outcomes') or relname like 'events%'`

/** An idle connection reports its reads within ten seconds. */
const UNTIL_TOLD_MS = 11_000

async function blocksOf(stage: Stage): Promise<number> {
  await pause(UNTIL_TOLD_MS)
  return withClient(
    stage,
    async client => (await client.query<{ blocks: number }>(BLOCKS)).rows[0]?.blocks ?? 0,
  )
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

async function ask(stage: Stage, report: Report): Promise<number> {
  const began = performance.now()
  const answer = await fetch(stage.api.url + REPORTS[report], { headers: bearer(stage) })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.arrayBuffer()
  return performance.now() - began
}

/** The stages in turn, so that other load affects each alike. */
async function askInTurn(stages: readonly Stage[], report: Report, times: number): Promise<number[][]> {
  const milliseconds = stages.map((): number[] => [])
  for (let n = 0; n < times; n++)
    for (const [place, stage] of stages.entries()) milliseconds[place]?.push(await ask(stage, report))
  return milliseconds
}

/** The time of a report on each stage, and the table pages that it reads. */
export async function readReport(
  stages: readonly Stage[],
  report: Report,
  times: number,
): Promise<Reading[]> {
  await askInTurn(stages, report, times)
  const before = await Promise.all(stages.map(blocksOf))
  const milliseconds = await askInTurn(stages, report, times)
  const after = await Promise.all(stages.map(blocksOf))
  return milliseconds.map((times, place) => ({
    milliseconds: median(times),
    blocks: ((after[place] as number) - (before[place] as number)) / times.length,
  }))
}

/** PostgreSQL's time for the plain sum; the best of three. */
export const readPlain = (stage: Stage, report: keyof typeof PLAIN): Promise<number> =>
  withClient(stage, async client => {
    const columns = report === 'costs' ? '1, 2' : '1'
    const times: number[] = []
    for (let n = 0; n < 3; n++) {
      const began = performance.now()
      await client.query(`${PLAIN[report]} ${FROM} group by ${columns}`, [stage.ownerId])
      times.push(performance.now() - began)
    }
    return Math.min(...times)
  })

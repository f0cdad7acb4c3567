import { until } from '../../support/until.ts'
import { measure, type Result } from '../case.ts'
import { answerOf, node, type Served, serve } from '../child.ts'
import type { Measured } from '../load/load.ts'
import { type Section, tableLine, wholeNumber } from '../report.ts'
import { type Stage, withClient } from '../stage.ts'
import type { Engine } from '../temporal.ts'
import type { PayerJob } from './payer.ts'
import { fillPayers, openApi, PAYING_CONNECTIONS, PAYING_SECONDS, payingCase } from './payments.ts'

const PATIENCE_MS = 240_000

interface Rates {
  readonly connections: number
  readonly byRun: Result
  readonly inRequest: Result
  readonly bare: Measured
  /** Until the last run has ended, after the requests of `byRun` were answered. */
  readonly endedMs: number
}

/** Machine payments by their runs, in their requests, and of a client without a service, in turn. */
export async function measureMachineRuns(stage: Stage, engine: Engine): Promise<Section> {
  const merchant = await serve(node('test/bench/machine/merchant.ts'), `${stage.folder}/merchant.log`, {})
  stage.closeLater(merchant.stop)
  await fillPayers(stage)
  await Promise.all([engine.run('relay'), engine.run('worker')])
  const open = await openApi(stage)
  const rates: Rates[] = []
  for (const connections of PAYING_CONNECTIONS)
    rates.push(await measureRates(connections, { stage, engine, open, merchant }))
  return { figures: { machineRuns: rates }, text: rates.flatMap(linesOf).join('\n') }
}

interface Parties {
  readonly stage: Stage
  readonly engine: Engine
  readonly open: Served
  readonly merchant: Served
}

async function measureRates(connections: number, { stage, engine, open, merchant }: Parties): Promise<Rates> {
  const url = `${merchant.url}/report`
  const of = (server: Served, name: string) =>
    measure(stage, payingCase(stage, server, url, name), connections, PAYING_SECONDS)
  const bare = await answerOf<Measured>('test/bench/machine/payer.ts', {
    ...{ url, client: 'bare', method: 'card', connections, seconds: PAYING_SECONDS },
  } satisfies PayerJob)
  const inRequest = await of(open, 'in the request')
  const byRun = await of(stage.api, 'by its run')
  const answered = performance.now()
  await until('the runs to end', () => areRunsOver(stage, engine), PATIENCE_MS)
  return { connections, byRun, inRequest, bare, endedMs: performance.now() - answered }
}

function linesOf({ connections, byRun, inRequest, bare, endedMs }: Rates): string[] {
  const shown = ({ perSecond, p50, p99, failed }: Measured) =>
    `${wholeNumber(perSecond)}/s, p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms, added ${(p50 - bare.p50).toFixed(1)} ms, ${failed} failed`
  return [
    tableLine([`machine payments, ${connections} connections, by their runs`, shown(byRun)]),
    tableLine(['in their requests', shown(inRequest)]),
    tableLine(['a bare client', `${wholeNumber(bare.perSecond)}/s, p50 ${bare.p50.toFixed(1)} ms`]),
    tableLine(['the last run ends after', `${wholeNumber(endedMs)} ms`]),
  ]
}

async function areRunsOver(stage: Stage, { client }: Engine): Promise<boolean> {
  const isEmpty = await withClient(stage, async database => {
    const { rows } = await database.query('select not exists (select from outbox) as empty')
    return Boolean(rows[0]?.empty)
  })
  if (!isEmpty) return false
  const { count } = await client.workflow.count("ExecutionStatus = 'Running'")
  return count === 0
}

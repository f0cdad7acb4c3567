import { until } from '../../support/until.ts'
import { answerOf, node, serve } from '../child.ts'
import type { Job, Measured } from '../load/load.ts'
import { type Section, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, withClient } from '../stage.ts'
import type { Engine } from '../temporal.ts'
import { fillPayers, payable } from './payments.ts'

const COUNT = usualOrShort(600, 60)
const CONNECTIONS = 8
const PATIENCE_MS = 240_000

/** Payments per second with a Temporal run for each: from the first request to the end of the last run. */
export async function measureMachineRuns(stage: Stage, engine: Engine): Promise<Section> {
  const merchant = await serve(node('test/bench/machine/merchant.ts'), `${stage.folder}/merchant.log`, {})
  stage.closeLater(merchant.stop)
  await fillPayers(stage)
  await Promise.all([engine.run('relay'), engine.run('worker')])
  const numbers = await payable(stage, COUNT)
  const began = performance.now()
  const paid = await answerOf<Measured>('test/bench/load/load.ts', {
    url: stage.api.url,
    method: 'POST',
    path: '/v1/mpp/pay',
    token: stage.token,
    body: { url: `${merchant.url}/report`, intentId: 'intent_card_{n}' },
    numbers: { ...numbers, inOrder: true },
    most: COUNT,
    connections: CONNECTIONS,
    seconds: PATIENCE_MS / 1_000,
    expects: '"receipt":"ey',
  } satisfies Job)
  const answeredSeconds = (performance.now() - began) / 1_000
  await until('the runs to end', () => areRunsOver(stage, engine), PATIENCE_MS)
  const perSecond = (COUNT * 1_000) / (performance.now() - began)
  const answered = COUNT / answeredSeconds
  return {
    figures: { machineRuns: { perSecond, answered, failed: paid.failed } },
    text: `machine payments with a run each: ${wholeNumber(answered)}/s answered, ${wholeNumber(perSecond)}/s with their runs at an end, ${paid.failed} failed`,
  }
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

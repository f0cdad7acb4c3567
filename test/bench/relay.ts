import { printLine } from '../../src/platform/output.ts'
import { until } from '../support/until.ts'
import { answerOf } from './child.ts'
import { addWaiting, fillAgents } from './database/intent-rows.ts'
import { ratio, type Section, wholeNumber } from './report.ts'
import { type Stage, withClient } from './stage.ts'
import type { StartLoad } from './starts/process-starts.ts'
import type { Engine } from './temporal.ts'

const COUNT = 1_000
const WARM_UP = 100
/** The relay's number of concurrent calls. */
const CONCURRENCY = 32
const ROUNDS = 2
const PATIENCE_MS = 120_000

/** Measures workflow starts per second of the relay and of Temporal's own client, without workers. */
export async function measureRelay(stage: Stage, engine: Engine): Promise<Section> {
  await fillAgents(stage)
  await engine.run('relay')
  await relayRate(stage, WARM_UP)
  const job: StartLoad = { address: engine.address, count: COUNT, concurrency: CONCURRENCY }
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const relay = await relayRate(stage, COUNT)
    const client = await answerOf<number>('test/bench/starts/process-starts.ts', job)
    printLine(`  relay ${wholeNumber(relay)}, client ${wholeNumber(client)}`)
    rounds.push({ relay, client })
  }
  const relay = Math.max(...rounds.map(round => round.relay))
  const client = Math.max(...rounds.map(round => round.client))
  return {
    figures: { relayStarts: { relay, client } },
    text: `relay ${wholeNumber(relay)} starts/s, Temporal client ${wholeNumber(client)} starts/s: ${ratio(relay, client)}`,
  }
}

/** Rows per second, from the commit that writes them to the last delivery. */
async function relayRate(stage: Stage, count: number): Promise<number> {
  return withClient(stage, async client => {
    await addWaiting(stage, count, { queued: true })
    const began = performance.now()
    const isEmpty = async () => {
      const { rows } = await client.query('select exists (select from outbox) as waits')
      return !rows[0].waits
    }
    await until('an empty outbox', isEmpty, PATIENCE_MS)
    return (count * 1_000) / (performance.now() - began)
  })
}

import { setTimeout as sleep } from 'node:timers/promises'
import { printLine } from '../../src/platform/output.ts'
import { answerOf } from './child.ts'
import { AGENTS, fillAgents } from './database/intent-rows.ts'
import type { Job, Measured } from './load/load.ts'
import { type Section, wholeNumber } from './report.ts'
import type { Stage } from './stage.ts'
import type { Engine } from './temporal.ts'

const COUNT = 10_000
const PATIENCE_MS = 600_000

/** Measures the memory of each process before and after this many intents wait for approval. */
export async function measureMemory(stage: Stage, engine: Engine): Promise<Section> {
  await fillAgents(stage)
  const [relay, worker] = await Promise.all([engine.run('relay'), engine.run('worker')])
  const processes = { api: stage.api, relay, worker, temporal: engine }
  const all = () =>
    Object.entries(processes).map(([name, running]) => [name, Math.round(running.memoryMegabytes())] as const)
  const before = Object.fromEntries(all())
  const began = performance.now()
  await declareAll(stage)
  await untilAllWait(engine, began)
  const seconds = (performance.now() - began) / 1_000
  const after = Object.fromEntries(all())
  const changes = all().map(([name, megabytes]) => `${name} ${before[name]} → ${megabytes}`)
  return {
    figures: { waiting: { count: COUNT, seconds, before, after } },
    text: `memory in MB, until ${wholeNumber(COUNT)} intents wait (${seconds.toFixed(0)} s): ${changes.join(', ')}`,
  }
}

async function declareAll({ api, token }: Stage): Promise<void> {
  const intent = {
    agentId: 'agent_bench_{n}',
    amountEuros: 75,
    merchant: 'Bookshop',
    purpose: 'A shelf for books',
  }
  const job: Job = {
    url: api.url,
    method: 'POST',
    path: '/intents',
    token,
    body: intent,
    numbers: { from: 1, to: AGENTS },
    connections: 32,
    seconds: PATIENCE_MS / 1_000,
    most: COUNT,
  }
  const { sent, failed } = await answerOf<Measured>('test/bench/load/load.ts', job)
  if (sent !== COUNT || failed > 0) throw new Error(`${sent} intents were declared, ${failed} in vain`)
}

async function untilAllWait({ client }: Engine, began: number): Promise<void> {
  for (let printed = 0; ; ) {
    const { count } = await client.workflow.count('AgentPayStatus = "created"')
    if (count >= COUNT) return
    if (performance.now() - began > PATIENCE_MS) throw new Error(`only ${count} runs wait`)
    if (count >= printed + 2_000) {
      printed = count
      printLine(`  ${wholeNumber(count)} wait`)
    }
    await sleep(500)
  }
}

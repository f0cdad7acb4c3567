import type { Client } from '@temporalio/client'
import { until } from '../support/until.ts'
import { AGENTS, fillAgents } from './database/intent-rows.ts'
import { type Section, tableLine } from './report.ts'
import { bearer, post, type Stage } from './stage.ts'
import type { Engine } from './temporal.ts'

/** The group sizes, and how many groups of each are measured. */
const LOADS = [
  { atATime: 1, groups: 48 },
  { atATime: 16, groups: 6 },
]

/** The measured spans: milliseconds from the API's answer until Temporal shows the consequence. */
const SPANS = {
  denied: 'denied → its run has closed',
  approved: 'approved → its run shows it, and waits on',
  expired: 'clock moved past the deadline → the run has closed',
} as const
type Span = keyof typeof SPANS

interface Times {
  readonly span: Span
  readonly atATime: number
  readonly p50: number
  readonly p99: number
}

/**
 * Measures how fast runs follow their records. An approved intent's run waits for its deadline, so the clock
 * is advanced.
 */
export async function measureRuns(stage: Stage, engine: Engine): Promise<Section> {
  await fillAgents(stage)
  await Promise.all([engine.run('relay'), engine.run('worker')])
  const runs = runsOf(stage, engine.client)
  await runs.deny(1)
  const times: Times[] = []
  for (const { atATime, groups } of LOADS) {
    const spans: Record<Span, number[]> = { denied: [], approved: [], expired: [] }
    for (let group = 0; group < groups; group++) {
      spans.denied.push(...(await runs.deny(atATime)))
      const { approved, expired } = await runs.approve(atATime)
      spans.approved.push(...approved)
      spans.expired.push(...expired)
    }
    const names = Object.keys(SPANS) as Span[]
    times.push(...names.map(span => ({ span, atATime, ...quantiles(spans[span]) })))
  }
  return { figures: { runTimes: times }, text: tableOf(times) }
}

function quantiles(values: readonly number[]): { p50: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

function tableOf(times: readonly Times[]): string {
  const cell = (span: string, atATime: number) => {
    const measured = times.find(entry => entry.span === span && entry.atATime === atATime)
    return measured ? `${measured.p50.toFixed(0)}/${measured.p99.toFixed(0)} ms` : '–'
  }
  return [
    tableLine(['p50/p99 from the answer, intents at a time', ...LOADS.map(({ atATime }) => String(atATime))]),
    ...Object.entries(SPANS).map(([span, title]) =>
      tableLine([title, ...LOADS.map(({ atATime }) => cell(span, atATime))]),
    ),
  ].join('\n')
}

interface Declared {
  readonly id: string
  readonly workflowId: string
}

/** Groups of intents, followed from their declaration to the end of their runs. */
function runsOf(stage: Stage, client: Client) {
  const ask = (path: string, body: unknown) => post(stage.api, path, body, bearer(stage))
  const untilEnded = (workflowId: string) => client.workflow.getHandle(workflowId).result().then(now)

  async function declare(n: number): Promise<Declared> {
    const agentId = `agent_bench_${1 + (n % AGENTS)}`
    const what = { amountEuros: 75, merchant: 'Bookshop', purpose: 'A shelf', expiresInMinutes: 1 }
    const { id = '', workflowId = '' } = await ask('/intents', { agentId, ...what })
    const handle = client.workflow.getHandle(workflowId)
    await until(`${workflowId} runs`, () => handle.describe().catch(() => undefined))
    await untilStatus(client, workflowId, 'created')
    return { id, workflowId }
  }

  const group = (size: number) => Promise.all(Array.from({ length: size }, (_, n) => declare(n)))

  /** Milliseconds from the answer to this request until the event, for which the caller waits beforehand. */
  async function span(happenedAt: Promise<number>, path: string, body: unknown): Promise<number> {
    await ask(path, body)
    const answered = now()
    return Math.max(0, (await happenedAt) - answered)
  }

  return {
    async deny(size: number): Promise<number[]> {
      const intents = await group(size)
      return Promise.all(
        intents.map(({ id, workflowId }) =>
          span(untilEnded(workflowId), `/intents/${id}/deny`, { reason: 'Too dear' }),
        ),
      )
    },

    async approve(size: number) {
      const intents = await group(size)
      const approved = await Promise.all(
        intents.map(({ id, workflowId }) =>
          span(untilStatus(client, workflowId, 'approved'), `/intents/${id}/approve`, {}),
        ),
      )
      const ends = intents.map(({ workflowId }) => untilEnded(workflowId))
      await ask('/simulate/clock/advance', { minutes: 2 })
      const answered = now()
      const expired = (await Promise.all(ends)).map(end => Math.max(0, end - answered))
      return { approved, expired }
    },
  }
}

const now = (): number => performance.now()

/** The moment when the run shows this status, at its start or later. Temporal reports every new event, so no polling is needed. */
async function untilStatus(client: Client, workflowId: string, status: string): Promise<number> {
  let nextPageToken: Uint8Array | null | undefined
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId },
      waitNewEvent: true,
      ...(nextPageToken ? { nextPageToken } : {}),
    })
    const written = (page.history?.events ?? []).map(event => {
      const listed =
        event.upsertWorkflowSearchAttributesEventAttributes ?? event.workflowExecutionStartedEventAttributes
      return listed?.searchAttributes?.indexedFields?.AgentPayStatus?.data
    })
    if (written.some(data => data && Buffer.from(data).toString() === JSON.stringify(status))) return now()
    nextPageToken = page.nextPageToken
  } while (nextPageToken?.length)
  throw new Error(`${workflowId} has ended and never was ${status}`)
}

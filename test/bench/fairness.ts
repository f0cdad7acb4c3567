import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import type pg from 'pg'
import { WORKFLOW_TASKS } from '../../src/app/worker-service.ts'
import { until } from '../support/until.ts'
import type { oneAfterTheOther } from './dispatches/workflow.ts'
import { quantiles } from './quantiles.ts'
import { type Section, tableLine } from './report.ts'
import { usualOrShort } from './short.ts'
import { bearer, newOwner, post, type Stage, withClient } from './stage.ts'
import type { Engine } from './temporal.ts'

/** The runs of the busy owner, which all want to act at once. */
const RUNS = usualOrShort(5_000, 200)
const AT_ONCE = 32
/** Steps of the other owner, alone and beside. */
const STEPS = usualOrShort(40, 5)
const EVERY_MS = 250
/** A call to a bank takes so long. */
const CALL_MS = 250
const SLOTS = 20
const QUIET = new DefaultLogger('WARN')

interface Measured {
  readonly what: string
  readonly alone: readonly number[]
  readonly beside: readonly number[]
  /** How many of the busy owner's runs still wanted to act after the last step of the other one. */
  readonly left: number
}

/**
 * How long steps of one owner take while 5,000 runs of another want to act, too: calls, for which the slots of the worker
 * are the limit, and signals that are decided, for which the processor is.
 */
export async function measureFairness(stage: Stage, engine: Engine): Promise<Section> {
  Runtime.install({ logger: QUIET })
  const all = [await callsInSlots(engine), await signalsDecided(stage, engine)]
  const figures = all.map(({ what, alone, beside, left }) => ({
    ...{ what, left },
    ...{ alone: quantiles(alone), beside: quantiles(beside) },
  }))
  const lines = figures.flatMap(({ what, alone, beside, left }) => [
    tableLine([what, 'p50', 'p99']),
    tableLine(['alone', ...[alone.p50, alone.p99].map(ms => `${ms.toFixed(0)} ms`)]),
    tableLine([
      `beside ${RUNS} runs of another owner, of which ${left} still waited at the end`,
      ...[beside.p50, beside.p99].map(ms => `${ms.toFixed(0)} ms`),
    ]),
    tableLine(['times', (beside.p50 / alone.p50).toFixed(2), (beside.p99 / alone.p99).toFixed(2)]),
  ])
  return { figures: { fairness: figures }, text: lines.join('\n') }
}

async function callsInSlots({ address, client }: Engine): Promise<Measured> {
  const taskQueue = `fairness-${randomUUID()}`
  const connection = await NativeConnection.connect({ address })
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('dispatches/workflow.ts', import.meta.url)),
    logger: QUIET,
  })
  let calls = 0
  const activities = {
    async nothing() {
      calls++
      await pause(CALL_MS)
    },
  }
  const slots = {
    maxConcurrentActivityTaskExecutions: SLOTS,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
  }
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities, ...slots })
  const begin = (fairnessKey: string) =>
    client.workflow.start<typeof oneAfterTheOther>('oneAfterTheOther', {
      ...{ taskQueue, workflowId: randomUUID(), args: [1] },
      priority: { fairnessKey },
    })
  const step = async () => Number((await (await begin('few')).result())[0])
  const measured = await worker.runUntil(async () => {
    const alone = await inARow(STEPS, step)
    await eachOf(Array.from({ length: RUNS }), () => begin('many'))
    const beside = await inARow(STEPS, step)
    return { alone, beside, left: RUNS - (calls - 2 * STEPS) }
  })
  await connection.close()
  return { what: `a call of ${CALL_MS} ms, in ${SLOTS} slots`, ...measured }
}

async function inARow(count: number, step: () => Promise<number>): Promise<number[]> {
  const tookMs: number[] = []
  while (tookMs.length < count) tookMs.push(await step())
  return tookMs
}

async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const waiting = all.values()
  const inTurn = async () => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, inTurn))
}

interface Owner {
  readonly ownerId: string
  readonly intents: readonly string[]
}

async function signalsDecided(stage: Stage, engine: Engine): Promise<Measured> {
  await Promise.all([engine.run('relay'), engine.run('worker')])
  const [few, many] = [await ownerWith(stage, 1, 2 * STEPS), await ownerWith(stage, 2, RUNS)]
  await untilAllWait(engine, [few, many])
  return withClient(stage, async database => {
    const place = { engine, database }
    const alone = await decided(few.intents.slice(0, STEPS), place)
    const burst = eachOf(many.intents, id => deny(engine, id))
    const beside = await decided(few.intents.slice(STEPS), place)
    const left = RUNS - (await countOf(database, many))
    await burst
    return { what: 'a signal until it is decided', alone, beside, left }
  })
}

async function ownerWith(stage: Stage, number: number, count: number): Promise<Owner> {
  const owner = { ...stage, ...(await newOwner(stage.api, number)) }
  const { id: agentId } = await post(stage.api, '/agents', { name: 'Reader' }, bearer(owner))
  const body = { agentId, amountEuros: 75, merchant: 'Bookshop', purpose: 'A shelf', expiresInMinutes: 600 }
  const intents: string[] = []
  await eachOf(Array.from({ length: count }), async () => {
    const { id = '' } = await post(stage.api, '/intents', body, bearer(owner))
    intents.push(id)
  })
  return { ownerId: owner.ownerId, intents }
}

/** Once the list of runs shows that each waits for its person. */
async function untilAllWait({ client }: Engine, owners: readonly Owner[]): Promise<void> {
  for (const { ownerId, intents } of owners) {
    const query = `AgentPayOwner = '${ownerId}' and ExecutionStatus = 'Running'`
    const wait = async () => (await client.workflow.count(query)).count === intents.length
    await until(`${intents.length} runs wait`, wait, 300_000)
  }
}

const deny = ({ client }: Engine, id: string): Promise<void> =>
  client.workflow.getHandle(`intent/${id}`).signal('deny', { by: 'Ada', reason: 'no' })

async function countOf(database: pg.Client, { ownerId }: Owner): Promise<number> {
  const counted = `select count(*)::int as count from intents where owner_id = $1 and status = 'denied'`
  return (await database.query(counted, [ownerId])).rows[0].count
}

/** How long each of these took, sent one after the other. */
async function decided(
  intents: readonly string[],
  { engine, database }: { readonly engine: Engine; readonly database: pg.Client },
): Promise<number[]> {
  const tookMs: number[] = []
  for (const id of intents) {
    const began = performance.now()
    await deny(engine, id)
    const isOpen = async () =>
      (await database.query('select status from intents where id = $1', [id])).rows[0].status === 'created'
    while (await isOpen()) await pause(2)
    tookMs.push(performance.now() - began)
    await pause(EVERY_MS)
  }
  return tookMs
}

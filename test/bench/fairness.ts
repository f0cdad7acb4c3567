import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { until } from '../support/until.ts'
import { quantiles } from './quantiles.ts'
import { type Section, tableLine } from './report.ts'
import { usualOrShort } from './short.ts'
import { bearer, newOwner, post, type Stage, withClient } from './stage.ts'
import type { Engine } from './temporal.ts'

/** The runs of the busy owner, which all want to act at once. */
const RUNS = usualOrShort(5_000, 200)
const AT_ONCE = 32
/** Decisions of the other owner, alone and beside. */
const DECISIONS = usualOrShort(40, 5)
const EVERY_MS = 250

interface Owner {
  readonly ownerId: string
  readonly intents: readonly string[]
}

/**
 * How long a person's signal takes until it is decided: alone, and while 5,000 runs of another owner want to act, too. All
 * are decisions on PostgreSQL, in the worker's own queue.
 */
export async function measureFairness(stage: Stage, engine: Engine): Promise<Section> {
  await Promise.all([engine.run('relay'), engine.run('worker')])
  const [few, many] = [await ownerWith(stage, 1, 2 * DECISIONS), await ownerWith(stage, 2, RUNS)]
  await untilAllWait(engine, [few, many])
  return withClient(stage, async database => {
    const place = { engine, database }
    const alone = await decided(few.intents.slice(0, DECISIONS), place)
    const began = performance.now()
    const burst = eachOf(many.intents, id => deny(engine, id))
    const beside = await decided(few.intents.slice(DECISIONS), place)
    const left = RUNS - (await countOf(database, many))
    await burst
    await until('the burst is over', async () => (await countOf(database, many)) === RUNS, 300_000)
    const burstSeconds = (performance.now() - began) / 1_000
    return sectionOf({ alone: quantiles(alone), beside: quantiles(beside), left, burstSeconds })
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

async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = all.values()
  const inTurn = async () => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, inTurn))
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

interface Figures {
  readonly alone: ReturnType<typeof quantiles>
  readonly beside: ReturnType<typeof quantiles>
  readonly left: number
  readonly burstSeconds: number
}

function sectionOf({ alone, beside, left, burstSeconds }: Figures): Section {
  const text = [
    tableLine(['a signal until it is decided', 'p50', 'p99']),
    tableLine(['alone', ...[alone.p50, alone.p99].map(ms => `${ms.toFixed(0)} ms`)]),
    tableLine([
      `beside ${RUNS} runs of another owner`,
      ...[beside.p50, beside.p99].map(ms => `${ms.toFixed(0)} ms`),
    ]),
    tableLine(['times', (beside.p50 / alone.p50).toFixed(2), (beside.p99 / alone.p99).toFixed(2)]),
    `The burst took ${burstSeconds.toFixed(0)} s; ${left} of its runs still wanted to act after the last signal.`,
  ].join('\n')
  return { figures: { fairness: { alone, beside, left, burstSeconds } }, text }
}

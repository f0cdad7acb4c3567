import { deepStrictEqual } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import type { Client as Temporal, WorkflowExecutionDescription } from '@temporalio/client'
import { areas } from '../../src/areas.ts'
import { type Client, client } from '../../src/derive/client.ts'
import { commandOf } from '../../src/dev/processes/process-table.ts'
import { anAgentUnder, anIntent, bodyOf } from '../support/factories.ts'
import { until } from '../support/until.ts'

type Api = Client<typeof areas>

export interface Flow {
  /** Two API processes on one database. */
  readonly urls: readonly [string, string]
  readonly temporal: Temporal
  /** The namespace as the Web UI's own requests address it. */
  readonly webUi: string
  readonly dashboardSecret: string
  readonly tell: (line: string) => void
  /** One of the workers will be killed. */
  readonly onKill: () => void
}

interface World {
  readonly here: Api
  readonly there: Api
  readonly agentId: string
  readonly temporal: Temporal
}

type Intent = Awaited<ReturnType<typeof anIntent>>

const MANY = 100

/** Drives intents through both API processes and both workers, and holds what each of the four places says of them. */
export async function driveFlow({
  urls,
  temporal,
  webUi,
  dashboardSecret,
  tell,
  onKill,
}: Flow): Promise<void> {
  const world = await openWorld(urls, temporal, dashboardSecret)
  const { here, there, agentId } = world
  const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now()
    await work()
    tell(`  ${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }

  await timed('approved by the policy, at once and without a run', async () => {
    const intent = await anIntent(here, agentId, { amountEuros: 5 })
    deepStrictEqual([intent.status, intent.workflowId], ['approved', null])
  })
  await timed('declared on one API, approved on the other', async () => {
    const intent = await anIntent(here, agentId)
    await bodyOf(there.intents.approve({ params: { id: intent.id } }))
    await agree(world, intent, 'approved')
  })
  await timed('declared on one API, denied on the other', async () => {
    const intent = await anIntent(there, agentId)
    await bodyOf(here.intents.deny({ params: { id: intent.id }, body: { reason: 'Too expensive' } }))
    await agree(world, intent, 'denied')
  })
  await timed('approved by a signal from the Web UI', async () => {
    const intent = await anIntent(here, agentId)
    const run = await runOf(world, intent)
    await signalFromWebUi(webUi, run.workflowId, 'approve', { by: 'Ada', comment: 'Go ahead' })
    const { decidedBy } = await agree(world, intent, 'approved')
    deepStrictEqual(decidedBy, { type: 'operator', id: null, name: 'Ada' })
  })
  await timed('gone on with by one worker after the other was killed', async () => {
    const intent = await anIntent(here, agentId)
    const killed = await killWorkerOf(world, intent, onKill)
    await bodyOf(there.intents.approve({ params: { id: intent.id } }))
    await agree(world, intent, 'approved')
    const [first, ...others] = new Set(await workersOf(world, intent))
    deepStrictEqual([first, others.length], [killed, 1])
  })
  await timed(`${MANY} declared on both APIs at once and cancelled on the other`, async () => {
    const intents = await Promise.all(
      Array.from({ length: MANY }, (_, n) => anIntent(n % 2 ? here : there, agentId)),
    )
    await Promise.all(
      intents.map(({ id }, n) => bodyOf((n % 2 ? there : here).intents.cancel({ params: { id } }))),
    )
    for (const intent of intents) await agree(world, intent, 'cancelled')
  })
  await timed('expired two days later, by the test clock', async () => {
    const intent = await anIntent(here, agentId)
    await bodyOf(there.sandbox.advance({ body: { days: 2 } }))
    await agree(world, intent, 'expired')
  })
  await timed('nothing left in the outbox', () => until('an empty outbox', () => isIdle(here)))
}

async function openWorld(urls: Flow['urls'], temporal: Temporal, dashboardSecret: string): Promise<World> {
  const account = { name: 'Owner', email: 'owner@example.com', type: 'business', country: 'DE' } as const
  const { key } = await bodyOf(
    client(areas, { url: urls[0], dashboardSecret }).keys.openAccount({ body: account }),
  )
  const [here, there] = urls.map(url => client(areas, { url, token: String(key) })) as [Api, Api]
  const { id } = await anAgentUnder(here, { autoApproveLimitEuros: 10 })
  return { here, there, agentId: id, temporal }
}

const CLOSED = ['denied', 'cancelled', 'expired']

/** Waits until record, event, audit row and run say the same, each of them once, whomever one asks. */
async function agree(world: World, intent: Intent, status: Intent['status']): Promise<Intent> {
  const run = { status, isClosed: CLOSED.includes(status) }
  const expected = { records: [status, status], events: 1, auditRows: 1, run }
  let seen: unknown
  const same = async () => {
    seen = await fourPlaces(world, intent, status)
    return isDeepStrictEqual(seen, expected)
  }
  await until(`${intent.id} is ${status} everywhere`, same).catch(() => deepStrictEqual(seen, expected))
  return bodyOf(world.here.intents.get({ params: { id: intent.id } }))
}

async function fourPlaces(world: World, intent: Intent, status: string) {
  const { here, there } = world
  const params = { id: intent.id }
  const records = await Promise.all([here, there].map(api => bodyOf(api.intents.get({ params }))))
  const query = { event: `intent.${status}`, agentId: world.agentId, limit: 100 }
  const events = await bodyOf(there.events.list({ query }))
  const audit = await bodyOf(here.audit.list({ query: { resource: intent.id } }))
  const run = await runOf(world, intent)
  return {
    records: records.map(record => record.status),
    events: events.data.filter(({ data }) => data.intentId === intent.id).length,
    auditRows: audit.data.filter(({ event }) => event === `intent.${status}`).length,
    run: { status: attributeOf(run), isClosed: run.status.name !== 'RUNNING' },
  }
}

async function runOf({ temporal }: World, { workflowId }: Intent): Promise<WorkflowExecutionDescription> {
  const handle = temporal.workflow.getHandle(String(workflowId))
  return until(`a run ${workflowId}`, () => handle.describe().catch(() => undefined))
}

const attributeOf = ({ typedSearchAttributes }: WorkflowExecutionDescription): unknown =>
  typedSearchAttributes.getAll().find(({ key }) => key.name === 'AgentPayStatus')?.value

/** As the page does it when an operator presses the button. */
async function signalFromWebUi(
  webUi: string,
  workflowId: string,
  name: string,
  payload: object,
): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const input = { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(payload)) }
  const response = await fetch(`${webUi}/workflows/${encodeURIComponent(workflowId)}/signal/${name}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
    body: JSON.stringify({
      signalName: name,
      workflowExecution: { workflowId },
      input: { payloads: [input] },
    }),
  })
  if (!response.ok) throw new Error(`the Web UI: ${response.status} ${await response.text()}`)
}

/** Who has worked on a run, in order. */
async function workersOf({ temporal }: World, { workflowId }: Intent): Promise<string[]> {
  const { events } = await temporal.workflow.getHandle(String(workflowId)).fetchHistory()
  return (events ?? []).flatMap(event => event.workflowTaskCompletedEventAttributes?.identity ?? [])
}

async function killWorkerOf(world: World, intent: Intent, onKill: () => void): Promise<string> {
  // What is lost in the middle of an activity is found out when its time is over; what only waits, when it is needed.
  await until('a run that waits', async () => attributeOf(await runOf(world, intent)) === 'created')
  const [identity = ''] = await workersOf(world, intent)
  const pid = Number.parseInt(identity, 10)
  if (!commandOf(pid)?.has('src/bin/worker.ts')) throw new Error(`${identity} is no worker of ours`)
  onKill()
  process.kill(pid, 'SIGKILL')
  return identity
}

async function isIdle(api: Api): Promise<boolean> {
  const { checks } = await bodyOf(api.health.health())
  return checks.relay.oldestSeconds === null
}

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
  /** Called before a worker is killed. */
  readonly onKill: () => void
}

interface World {
  readonly apiA: Api
  readonly apiB: Api
  readonly agentId: string
  readonly temporal: Temporal
}

type Intent = Awaited<ReturnType<typeof anIntent>>

const COUNT = 100

/** Drives intents through both API processes and both workers, and compares record, events, audit trail and run. */
export async function driveFlow({
  urls,
  temporal,
  webUi,
  dashboardSecret,
  tell,
  onKill,
}: Flow): Promise<void> {
  const world = await openWorld(urls, temporal, dashboardSecret)
  const { apiA, apiB, agentId } = world
  const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now()
    await work()
    tell(`  ${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }

  await timed('approved by the policy, at once and without a run', async () => {
    const intent = await anIntent(apiA, agentId, { amountEuros: 5 })
    deepStrictEqual([intent.status, intent.workflowId], ['approved', null])
  })
  await timed('declared on one API, approved on the other', async () => {
    const intent = await anIntent(apiA, agentId)
    await bodyOf(apiB.intents.approve({ params: { id: intent.id } }))
    await expectAgreement(world, intent, 'approved')
  })
  await timed('declared on one API, denied on the other', async () => {
    const intent = await anIntent(apiB, agentId)
    await bodyOf(apiA.intents.deny({ params: { id: intent.id }, body: { reason: 'Too expensive' } }))
    await expectAgreement(world, intent, 'denied')
  })
  await timed('approved by a signal from the Web UI', async () => {
    const intent = await anIntent(apiA, agentId)
    const run = await runOf(world, intent)
    await signalFromWebUi(webUi, run.workflowId, 'approve', { by: 'Ada', comment: 'Go ahead' })
    const { decidedBy } = await expectAgreement(world, intent, 'approved')
    deepStrictEqual(decidedBy, { type: 'operator', id: null, name: 'Ada' })
  })
  await timed('gone on with by one worker after the other was killed', async () => {
    const intent = await anIntent(apiA, agentId)
    const killed = await killWorkerOf(world, intent, onKill)
    await bodyOf(apiB.intents.approve({ params: { id: intent.id } }))
    await expectAgreement(world, intent, 'approved')
    const [first, ...others] = new Set(await workersOf(world, intent))
    deepStrictEqual([first, others.length], [killed, 1])
  })
  await timed(`${COUNT} declared on both APIs at once and cancelled on the other`, async () => {
    const intents = await Promise.all(
      Array.from({ length: COUNT }, (_, n) => anIntent(n % 2 ? apiA : apiB, agentId)),
    )
    await Promise.all(
      intents.map(({ id }, n) => bodyOf((n % 2 ? apiB : apiA).intents.cancel({ params: { id } }))),
    )
    for (const intent of intents) await expectAgreement(world, intent, 'cancelled')
  })
  await timed('expired two days later, by the test clock', async () => {
    const intent = await anIntent(apiA, agentId)
    await bodyOf(apiB.sandbox.advance({ body: { days: 2 } }))
    await expectAgreement(world, intent, 'expired')
  })
  await timed('nothing left in the outbox', () => until('an empty outbox', () => isIdle(apiA)))
}

async function openWorld(urls: Flow['urls'], temporal: Temporal, dashboardSecret: string): Promise<World> {
  const account = { name: 'Owner', email: 'owner@example.com', type: 'business', country: 'DE' } as const
  const { key } = await bodyOf(
    client(areas, { url: urls[0], dashboardSecret }).keys.openAccount({ body: account }),
  )
  const [apiA, apiB] = urls.map(url => client(areas, { url, token: String(key) })) as [Api, Api]
  const { id } = await anAgentUnder(apiA, { autoApproveLimitEuros: 10 })
  return { apiA, apiB, agentId: id, temporal }
}

const CLOSED = ['denied', 'cancelled', 'expired']

/** Waits until record, event, audit entry and run agree, each exists once, and both API processes show the same. */
async function expectAgreement(world: World, intent: Intent, status: Intent['status']): Promise<Intent> {
  const run = { status, isClosed: CLOSED.includes(status) }
  const expected = { records: [status, status], events: 1, auditEntries: 1, run }
  let observed: unknown
  const isSame = async () => {
    observed = await readEverywhere(world, intent, status)
    return isDeepStrictEqual(observed, expected)
  }
  await until(`${intent.id} is ${status} everywhere`, isSame).catch(() => deepStrictEqual(observed, expected))
  return bodyOf(world.apiA.intents.get({ params: { id: intent.id } }))
}

async function readEverywhere(world: World, intent: Intent, status: string) {
  const { apiA, apiB } = world
  const params = { id: intent.id }
  const records = await Promise.all([apiA, apiB].map(api => bodyOf(api.intents.get({ params }))))
  const query = { event: `intent.${status}`, agentId: world.agentId, limit: 100 }
  const events = await bodyOf(apiB.events.list({ query }))
  const audit = await bodyOf(apiA.audit.list({ query: { resource: intent.id } }))
  const run = await runOf(world, intent)
  return {
    records: records.map(record => record.status),
    events: events.data.filter(({ data }) => data.intentId === intent.id).length,
    auditEntries: audit.data.filter(({ event }) => event === `intent.${status}`).length,
    run: { status: attributeOf(run), isClosed: run.status.name !== 'RUNNING' },
  }
}

async function runOf({ temporal }: World, { workflowId }: Intent): Promise<WorkflowExecutionDescription> {
  const handle = temporal.workflow.getHandle(String(workflowId))
  return until(`a run ${workflowId}`, () => handle.describe().catch(() => undefined))
}

const attributeOf = ({ typedSearchAttributes }: WorkflowExecutionDescription): unknown =>
  typedSearchAttributes.getAll().find(({ key }) => key.name === 'AgentPayStatus')?.value

/** Sends the request that the Web UI sends when an operator signals a run. */
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
    headers: {
      'Content-Type': 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      ...(await csrfHeaders(webUi)),
    },
    body: JSON.stringify({
      signalName: name,
      workflowExecution: { workflowId },
      input: { payloads: [input] },
    }),
  })
  if (!response.ok) throw new Error(`the Web UI: ${response.status} ${await response.text()}`)
}

/** The development server's Web UI accepts a POST only with its cookie's token; the production one has none. */
async function csrfHeaders(webUi: string): Promise<Record<string, string>> {
  const cookies = (await fetch(new URL('/', webUi))).headers.getSetCookie()
  const [cookie = ''] = cookies.find(text => text.startsWith('_csrf='))?.split(';') ?? []
  return cookie ? { Cookie: cookie, 'X-CSRF-Token': cookie.replace('_csrf=', '') } : {}
}

/** The identities of the workers that worked on a run, in order. */
async function workersOf({ temporal }: World, { workflowId }: Intent): Promise<string[]> {
  const { events } = await temporal.workflow.getHandle(String(workflowId)).fetchHistory()
  return (events ?? []).flatMap(event => event.workflowTaskCompletedEventAttributes?.identity ?? [])
}

async function killWorkerOf(world: World, intent: Intent, onKill: () => void): Promise<string> {
  // A killed activity would be noticed only at its timeout, so the run must be waiting.
  const identity = await until('a run that waits', async () => {
    if (attributeOf(await runOf(world, intent)) !== 'created') return undefined
    const [first] = await workersOf(world, intent)
    return first
  })
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

import pg from 'pg'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { Authenticator } from '../identity/authenticator.ts'
import { aPerson, enrol } from '../identity/people.ts'
import { until } from '../until.ts'
import { signatureOver } from './approvals.ts'

type Sql = TestService['sql']

const ASKED_AT_ONCE = 3
const STEP_MINUTES = 240
/** Half of the time, an hour before the end, and the end. */
const DUE_MINUTES = [120, 180, STEP_MINUTES]

/** Until a terminated session has ended. */
const ENDED_MS = 60_000

/** What is due then is in the hands of the runs, and so of the worker. */
const SECONDS_OF_RUNS = 4

const RECORDED = 'intent.approval_recorded'
const ofStep = (end: string) => ['intent.approval_reminder', 'intent.approval_reminder', end]
const DUE_EVENTS = [
  ...ofStep('intent.approval_escalated'),
  ...ofStep('intent.approval_escalated'),
  ...ofStep('intent.denied'),
]
/** What happens to an intent whose three steps one person of many approves. */
export const STORY = ['intent.created', RECORDED, ...DUE_EVENTS]

/** The processes of an installation, as the test kills them. */
export interface KilledProcesses {
  readonly databaseUrl: string
  readonly sql: Sql
  /** Where people sign. */
  readonly origin: string
  /** By the API that is killed. */
  client(): TestClient
  /** By an API that goes on. */
  readonly other: TestClient
  /** Kills with SIGKILL, and starts the process again after `between`. */
  kill(which: 'api' | 'worker', between: () => Promise<unknown>): Promise<void>
  /** Until the runs wait for their next instant: one whose worker died in an activity goes on after the time of that activity. */
  untilRunsWait?(ids: readonly string[]): Promise<void>
}

/**
 * A gate before the events of a story: while it is shut, who writes one waits, with its changes not yet committed. So a kill
 * hits exactly there.
 */
async function gateBeforeEvents({ databaseUrl, sql }: Pick<KilledProcesses, 'databaseUrl' | 'sql'>) {
  const names = [...new Set(STORY.slice(1))].map(event => `'${event}'`)
  await sql(`
    create function wait_at_the_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(71); return new; end $$`)
  await sql(`
    create trigger wait_at_the_gate before insert on events for each row
    when (new.event in (${names.join(', ')})) execute function wait_at_the_gate()`)
  const waiting = `from pg_locks where locktype = 'advisory' and objid = 71 and not granted
    and database = (select oid from pg_database where datname = current_database())`
  return {
    untilSomeoneWaits: () =>
      until('an event is about to be written', async () => (await sql(`select ${waiting}`)).length > 0),
    /** PostgreSQL would still carry out and commit what a killed process had sent. */
    endWaiting: () => sql(`select pg_terminate_backend(pid, ${ENDED_MS}) ${waiting}`),
    async shut(): Promise<() => Promise<void>> {
      const holder = new pg.Client({ connectionString: databaseUrl })
      await holder.connect()
      await holder.query('select pg_advisory_lock(71)')
      return () => holder.end()
    },
  }
}

/** Three steps, of which none is ever complete: one approver has a passkey. */
export async function aTeamAsked(ownerId: string, { other, sql, origin }: KilledProcesses) {
  const device = new Authenticator({ origin })
  const approver = await aPerson({ sql }, { ownerId })
  await enrol(other, approver.id, device)
  for (let n = 0; n < 3; n++) await aPerson({ sql }, { ownerId })
  const step = { aboveEuros: 10, withinMinutes: STEP_MINUTES, then: 'next' } as const
  const { id: agentId } = await anAgentUnder(other, {
    approval: [
      { ...step, of: 'approvers', need: 2 },
      { ...step, of: 'owners', need: 1 },
      { ...step, of: 'owners', need: 1, then: 'deny' },
    ],
  })
  return { device, agentId }
}

interface KillPlan {
  readonly kills: number
  /** Who is killed while the clock brings something, in turn. */
  readonly killed: readonly ('api' | 'worker')[]
}

export interface KilledSteps {
  readonly kills: number
  readonly intentIds: readonly string[]
  /** The seconds by the test clock from when something was due, or could be written again, until it was. */
  readonly lateSeconds: readonly number[]
}

/** Begins a change, kills who is about to write it, and lets another process go on. */
async function killsAtTheGate(processes: KilledProcesses) {
  const gate = await gateBeforeEvents(processes)
  const opened: Date[] = []
  async function during(
    which: 'api' | 'worker',
    change: () => Promise<unknown>,
    goOn: () => Promise<unknown>,
  ): Promise<void> {
    const open = await gate.shut()
    const asked = change().then(
      () => 'answered',
      () => 'lost',
    )
    await gate.untilSomeoneWaits()
    await processes.kill(which, async () => {
      if (which === 'api' && (await asked) === 'answered') throw new Error('the API had answered before')
      // Every second kill leaves nothing; of the others what was sent is committed, which no process knows.
      if (opened.length % 2 === 1) await gate.endWaiting()
      opened.push(await nowOf(processes))
      await open()
      await goOn()
    })
  }
  return { during, opened }
}

const nowOf = async ({ other }: KilledProcesses) => new Date((await bodyOf(other.sandbox.clock())).now)

interface Telling {
  readonly team: Awaited<ReturnType<typeof aTeamAsked>>
  readonly processes: KilledProcesses
  readonly kills: Awaited<ReturnType<typeof killsAtTheGate>>
  readonly plan: KillPlan
}

const isEnough = ({ kills, plan }: Telling): boolean => kills.opened.length >= plan.kills

type Approve = (by: TestClient) => ReturnType<TestClient['intents']['approve']>

/** PostgreSQL may not have ended yet what a killed process began. */
const untilApproved = (approve: Approve, by: TestClient) =>
  until('the approval counts', async () => {
    const answer = await approve(by)
    return answer.code === 'in_progress' ? undefined : bodyOf(Promise.resolve(answer))
  })

/** Declares some intents, each of which one person approves. */
async function begin(telling: Telling): Promise<string[]> {
  const { kills, processes, team } = telling
  const { client, other } = processes
  const ids: string[] = []
  for (let n = 0; n < ASKED_AT_ONCE; n++) ids.push((await anIntent(other, team.agentId)).id)
  for (const [n, id] of ids.entries()) {
    const body = { webauthnAssertion: await signatureOver(other, id, team) }
    const approve: Approve = by => by.intents.approve({ params: { id }, body, idempotencyKey: `yes-${id}` })
    const goOn = () => untilApproved(approve, other)
    if (n > 0 || isEnough(telling)) await goOn()
    else await kills.during('api', () => approve(client()), goOn)
  }
  return ids
}

const DUE =
  'select min(approval_due_at) as first, max(approval_due_at) as last from intents where id = any($1)'

/** Moves the clock to what is due next, or lets the runs reach it. */
async function reachNext(telling: Telling, ids: readonly string[], turn: number): Promise<void> {
  const { kills, processes, plan } = telling
  const { client, other, sql, untilRunsWait } = processes
  const [due] = await sql<{ first: Date; last: Date }>(DUE, [ids])
  const secondsUntil = async (at: Date) =>
    Math.ceil((at.getTime() - (await nowOf(processes)).getTime()) / 1_000)
  if (!due || !((await secondsUntil(due.first)) > 0)) throw new Error('what was due has not happened')
  const advance = (by: TestClient, seconds: number) => by.sandbox.advance({ body: { seconds } })
  const beyond = async () => bodyOf(advance(other, Math.max(1, await secondsUntil(due.last))))
  const which = plan.killed[turn % plan.killed.length]
  if (isEnough(telling)) return void (await beyond())
  if (which === 'worker') {
    await untilRunsWait?.(ids)
    await bodyOf(advance(other, (await secondsUntil(due.first)) - SECONDS_OF_RUNS))
    return kills.during(which, async () => undefined, beyond)
  }
  const seconds = await secondsUntil(due.last)
  return kills.during('api', () => advance(client(), seconds), beyond)
}

/** Several stories one after the other, whose writes are each interrupted by a kill, until there were enough. */
export async function killThroughSteps(
  team: Telling['team'],
  processes: KilledProcesses,
  plan: KillPlan,
): Promise<KilledSteps> {
  const telling: Telling = { team, processes, plan, kills: await killsAtTheGate(processes) }
  const intentIds: string[] = []
  for (let story = 0; !isEnough(telling); story++) {
    const ids = await begin(telling)
    intentIds.push(...ids)
    for (let n = 0; n < DUE_EVENTS.length; n++) await reachNext(telling, ids, story + n)
  }
  const { opened } = telling.kills
  return { kills: opened.length, intentIds, lateSeconds: await latenessOf(processes.sql, intentIds, opened) }
}

const EVENTS = `select event, created_at as at from events where data ->> 'intentId' = $1 and event <> '${RECORDED}' order by id`

/** From each due instant; nothing could be written while the gate was shut after it. */
async function latenessOf(
  sql: Sql,
  intentIds: readonly string[],
  opened: readonly Date[],
): Promise<number[]> {
  const late: number[] = []
  for (const id of intentIds) {
    const [created, ...others] = await sql<{ event: string; at: Date }>(EVENTS, [id])
    let began = created?.at.getTime() ?? Number.NaN
    for (const [n, { at }] of others.entries()) {
      const due = began + Number(DUE_MINUTES[n % DUE_MINUTES.length]) * 60_000
      const shutUntil = opened.find(one => one.getTime() > due)?.getTime() ?? due
      const since = shutUntil < at.getTime() ? shutUntil : due
      late.push((at.getTime() - since) / 1_000)
      if (n % DUE_MINUTES.length === DUE_MINUTES.length - 1) began = at.getTime()
    }
  }
  return late
}

export const storyOf = async (sql: Sql, intentId: string): Promise<string[]> => {
  const text = `select event from events where data ->> 'intentId' = $1 order by id`
  return (await sql<{ event: string }>(text, [intentId])).map(({ event }) => event)
}

import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type Action,
  actions,
  aSpender,
  DAILY,
  MONTHLY,
  type Spender,
  type Step,
} from '../support/control/random-actions.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const FUNDS = 10_000_00

/** Statuses that the step applies to; another step is chosen if no record has one of them. */
const apt: Partial<Record<Action, readonly string[]>> = {
  approve: ['created'],
  deny: ['created'],
  cancel: ['created', 'approved'],
  pay: ['approved'],
  cancelTransfer: ['created', 'verifying'],
  reject: ['submitted'],
  sendBack: ['submitted', 'completed'],
}

const chosen = <T extends { status: string }>(records: readonly T[], [action, n]: Step): T | undefined => {
  const fit = records.filter(({ status }) => apt[action]?.includes(status))
  const from = fit.length > 0 ? fit : records
  return from[n % (from.length || 1)]
}

async function recordsOf({ client }: Spender) {
  const query = { limit: 100 }
  const [intents, transfers, payments] = await Promise.all([
    bodyOf(client.intents.list({ query })),
    bodyOf(client.transfers.list({ query })),
    bodyOf(client.transactions.list({ query })),
  ])
  return { intents: intents.data, transfers: transfers.data, payments: payments.data }
}

type Records = Awaited<ReturnType<typeof recordsOf>>

async function takeSteps(
  who: Spender,
  { intents, transfers }: Records,
  steps: readonly Step[],
): Promise<void> {
  const results = steps.map(step =>
    actions[step[0]](who, step[1], chosen(intents, step), chosen(transfers, step)),
  )
  await Promise.all(results)
}

interface Line {
  readonly day: string
  readonly subjects: readonly string[]
  readonly reserved: number
  readonly spent: number
}

const HELD = `
select subject_id as id, (result ->> 'holdEuros')::int as held from decisions
where agent_id = $1 and (result -> 'allowed')::boolean order by id`

/** Computed from the API’s answers alone. */
async function expectedLines({ agent }: Spender, { intents, payments }: Records): Promise<Line[]> {
  const holdRows = await service.sql<{ id: string; held: number }>(HELD, [agent.id])
  const holds = new Map(holdRows.map(row => [row.id, row.held]))
  return intents.flatMap(({ id, status, decidedAt, runId, delegationId, transactionId }) => {
    if (status !== 'approved' && status !== 'completed') return []
    const payment = payments.find(candidate => candidate.id === transactionId)
    const isPaid = payment && !['declined', 'refunded'].includes(payment.status)
    return {
      day: String(decidedAt).slice(0, 10),
      subjects: [agent.id, runId, delegationId].filter(id => id !== null),
      reserved: status === 'approved' ? Number(holds.get(id)) : 0,
      spent: isPaid ? Math.round(payment.amountEuros * 100) : 0,
    }
  })
}

const sum = (lines: readonly Line[], of: (line: Line) => number): number =>
  lines.reduce((total, line) => total + of(line), 0)

const COUNTED = `
select subject, period, reserved_cents::int as reserved, spent_cents::int as spent,
  case when term = (select assigned_at from policies where agent_id = $1 and deleted_at is null)
    then uses + reserved_uses else 0 end as uses
from counters where subject = any($2)`

async function expectToMatch(who: Spender, records: Records): Promise<void> {
  const { client, agent, run, delegation } = who
  const lines = await expectedLines(who, records)
  const subjects = [agent.id, run.id, delegation.id]
  const counted = await service.sql<{
    subject: string
    period: string
    reserved: number
    spent: number
    uses: number
  }>(COUNTED, [agent.id, subjects])
  for (const { subject, period, reserved, spent, uses } of counted) {
    const day = period.split(':')[1] ?? ''
    const own = lines.filter(line => line.subjects.includes(subject) && line.day.startsWith(day))
    expect([subject, period, reserved, spent]).toEqual([
      subject,
      period,
      sum(own, line => line.reserved),
      sum(own, line => line.spent),
    ])
    const most = { [run.id]: 1_000_00, [delegation.id]: 900_00 }[subject]
    if (most) expect(reserved + spent).toBeLessThanOrEqual(most)
    else if (period.startsWith('day')) expect(reserved + spent).toBeLessThanOrEqual(DAILY)
    else if (period.startsWith('month')) expect(reserved + spent).toBeLessThanOrEqual(MONTHLY)
    else expect(uses).toBeLessThanOrEqual(7)
  }
  const countedKeys = counted.map(({ subject, period }) => `${subject} ${period}`)
  for (const { day, subjects: ids } of lines)
    for (const subject of ids) expect(countedKeys).toContain(`${subject} day:${day}`)
  const { availableEuros, heldEuros } = await bodyOf(client.agents.balance({ params: agent }))
  const [reserved, spent] = [sum(lines, line => line.reserved), sum(lines, line => line.spent)]
  expect([heldEuros, availableEuros]).toEqual([reserved / 100, (FUNDS - spent - reserved) / 100])
}

/** Steps that create spending are more frequent than steps that end it. */
const often: Action[] = [
  'declare',
  'declare',
  'declare',
  'declare',
  'approve',
  'pay',
  'pay',
  'soon',
  'sendBack',
]
const step = fc.tuple(
  fc.constantFrom(...often, ...(Object.keys(actions) as Action[])),
  fc.integer({ min: 0, max: 191 }),
)

const all = (action: Action, ...numbers: number[]): Step[] => numbers.map(n => [action, n])

/** Each kind once: paid, cancelled, rejected, returned, overdue; and again in the next month. */
const everyEnd: Step[][] = [
  all('declare', 0, 1, 2, 33),
  all('pay', 0, 1, 2, 3),
  all('soon', 0),
  all('cancelTransfer', 0),
  all('declare', 24),
  all('pay', 0),
  all('soon', 0),
  all('declare', 30),
  all('approve', 0),
  all('pay', 0),
  all('soon', 0),
  all('sendBack', 0),
  [...all('later', 0), ...all('assign', 0)],
  all('later', 0),
  all('declare', 0, 1, 2, 0, 1, 2),
  [...all('endRun', 0), ...all('revoke', 0), ...all('declare', 1, 2)],
]

test('reserved and spent amounts agree with the records after any sequence of actions', async () => {
  const statuses = new Set<string>()
  const follow = async (course: readonly (readonly Step[])[]): Promise<void> => {
    const who = await aSpender(service)
    let records: Records = { intents: [], transfers: [], payments: [] }
    for (const steps of course) {
      await takeSteps(who, records, steps)
      records = await recordsOf(who)
      await expectToMatch(who, records)
    }
    const { client, agent } = who
    for (const { status } of records.transfers) statuses.add(`a transfer ${status}`)
    for (const { status } of records.intents) statuses.add(`an intent ${status}`)
    const months = await service.sql(
      `select 1 from counters where subject = $1 and period like 'month:%' and spent_cents + reserved_cents > 0`,
      [agent.id],
    )
    if (months.length === 2) statuses.add('two months')
    expect(await bodyOf(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
  }
  const course = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 6, maxLength: 9 })
  await fc.assert(fc.asyncProperty(course, follow), {
    numRuns: 3,
    examples: [[everyEnd]],
    endOnFailure: true,
  })
  const ends = ['transfer completed', 'transfer cancelled', 'transfer rejected', 'transfer returned']
  const others = ['intent completed', 'intent expired', 'intent cancelled', 'intent approved', 'two months']
  for (const end of [...ends, ...others])
    expect([...statuses].some(name => name.endsWith(end)) || [end, ...statuses]).toBe(true)
  // Three courses of forty steps: ten seconds on a quiet machine.
})

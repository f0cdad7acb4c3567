import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, aPolicy, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, later, type PayingOwner, pay, todayOf } from '../../support/insight/paying.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const service = await startTestService({ own: true })
const worker = await openWorkerRuntime(service)

interface Told {
  readonly data: Record<string, unknown> & { readonly agentId: string; readonly month: string }
  readonly day: string
}

const toldTo = ({ ownerId }: PayingOwner) =>
  service.sql<Told>(
    `select data, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day from events
     where owner_id = $1 and event = 'budget.at_risk' order by id`,
    [ownerId],
  )

const policyOf = async ({ client }: PayingOwner, monthlyLimitEuros: number | null) =>
  (await aPolicy(client, { autoApproveLimitEuros: 10_000, monthlyLimitEuros })).id

async function limitTo(
  owner: PayingOwner,
  { id: agentId }: Pick<PayingOwner['agent'], 'id'>,
  limit: number,
): Promise<void> {
  const policyId = await policyOf(owner, limit)
  await bodyOf(owner.client.policies.assign({ params: { agentId }, body: { policyId } }))
}

/** Two of its agents pay 10 euros on every other day from the 18th to the 26th of a month; it is the 28th then. */
async function aSpendingOwner() {
  const owner = await aPayingOwner(service)
  const { client, agent: tight } = owner
  const other = await aFundedAgent(client, { name: 'Other', policyId: await policyOf(owner, null) })
  await limitTo(owner, tight, 55)
  const today = new Date(await todayOf(client))
  const start = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 18)
  await later(client, (start - today.getTime()) / 86_400_000)
  for (let day = 18; day <= 26; day += 2) {
    for (const agent of [tight, other]) await pay({ ...owner, agent }, 10)
    await later(client, 2)
  }
  return { owner, client, tight, other, month: new Date(start).toISOString().slice(0, 7) }
}

const monthAfter = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7)
}

describe('an owner whose agent is likely to use up its monthly limit', () => {
  test('is sent once a month, on the first day of the risk, even if the clock passes the month in one step', async () => {
    const { owner, client, tight, other, month } = await aSpendingOwner()
    const [first, ...more] = await toldTo(owner)
    expect(more).toEqual([])
    expect(first?.day).toBe(`${month}-25`)
    expect(first?.data).toMatchObject({ agentId: tight.id, month, limitEuros: 55, spentEuros: 40 })
    expect(first?.data).toMatchObject({ heldEuros: 0, runsOutOn: expect.stringContaining(month) })
    // The other agent gets a limit that lasts, then one that does not.
    await limitTo(owner, other, 10_000)
    await later(client, 30)
    const second = (await toldTo(owner)).slice(1)
    const next = monthAfter(month)
    expect(second).toHaveLength(1)
    expect(second[0]?.day).toBe(`${next}-01`)
    expect(second[0]?.data).toMatchObject({ agentId: tight.id, month: next, spentEuros: 0 })
    await later(client, 300)
    expect(await toldTo(owner)).toHaveLength(2)
  })

  test('is sent once after a limit was lowered, for any number of concurrent checks', async () => {
    const { owner, client, other } = await aSpendingOwner()
    await limitTo(owner, other, 60)
    expect(await toldTo(owner)).toHaveLength(1)
    await service.sql('update budget_watches set due_at = now() where agent_id = $1', [other.id])
    await Promise.all([sweepAtOnce(worker), sweepAtOnce(worker), sweepAtOnce(worker)])
    await later(client, 1)
    const told = await toldTo(owner)
    expect(told.map(({ data }) => data.agentId)).toEqual([owner.agent.id, other.id])
    expect(told[1]?.data).toMatchObject({ limitEuros: 60, spentEuros: 50 })
  })
})

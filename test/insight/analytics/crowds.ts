import { describe, expect, test } from '@jest/globals'
import { universalProblems } from '../../../src/kernel/contract/problem.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, todayOf } from '../../support/insight/paying.ts'
import { bestOf } from '../../support/longest-turn.ts'
import { inTier } from '../../support/tier.ts'

const service = await startTestService()

/** Enough that passing each group through the process would block it; a few show that the sums are right. */
const GROUPS = inTier(1_000, 100_000)

/** The n-th group has cost n cents today. */
async function aCrowd(view: string, group: { agent?: string; run?: string; value?: string }) {
  const owner = await aPayingOwner(service)
  const { client, ownerId, agent } = owner
  const { agent: agentId = `'${agent.id}'`, run = "''", value = "''" } = group
  await service.sql(
    `insert into spend_cells select $1, 'test', $2, $3::date, ${agentId}, ${run}, ${value}, 1, n, 0, 0
     from generate_series(1, ${GROUPS}) as n`,
    [ownerId, view, await todayOf(client)],
  )
  return owner
}

const MOST_TRIES = 5

/** Tries again as the refusal says: a statement over so many groups takes a second, and on a busy machine its five. */
async function triedAgain<T>(ask: () => Promise<T>, tries = MOST_TRIES): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (tries === 1 || !String(error).includes(universalProblems.busy[1])) throw error
    return triedAgain(ask, tries - 1)
  }
}

/** Expects that the report does not block other requests for too long. */
async function inShortTurns<T>(ask: () => Promise<T>): Promise<T> {
  let answer: T | undefined
  const longest = await bestOf(50, async () => {
    answer = await triedAgain(ask)
  })
  expect(longest).toBeLessThan(50)
  return answer as T
}

const [MOST, SECOND] = [GROUPS / 100, (GROUPS - 1) / 100]
const REST = { groups: GROUPS - 2, count: GROUPS - 2, netEuros: ((GROUPS - 2) * (GROUPS - 1)) / 200 }

describe('reports with very many groups are bounded, sum the rest, and block no other request', () => {
  test('of agents', async () => {
    const { client } = await aCrowd('agent', { agent: "'agent_' || n" })
    const { data, other } = await inShortTurns(() => bodyOf(client.analytics.costs({ query: { limit: 2 } })))
    expect(data.map(({ agentId, netEuros }) => [agentId, netEuros])).toEqual([
      [`agent_${GROUPS}`, MOST],
      [`agent_${GROUPS - 1}`, SECOND],
    ])
    const { groups: agents, ...rest } = REST
    expect(other).toMatchObject({ agents, ...rest })
  })

  test('of merchants', async () => {
    const { client } = await aCrowd('merchant', { value: "'shop ' || n" })
    const { data, other } = await inShortTurns(() =>
      bodyOf(client.analytics.merchants({ query: { limit: 2 } })),
    )
    expect(data.map(({ key, netEuros }) => [key, netEuros])).toEqual([
      [`shop ${GROUPS}`, MOST],
      [`shop ${GROUPS - 1}`, SECOND],
    ])
    expect(other).toMatchObject(REST)
  })

  test('of merchants, of which those that got most are looked at for what was unusual', async () => {
    const { client, ownerId, agent } = await aCrowd('merchant', { value: "'shop ' || n" })
    const from = await todayOf(client)
    await service.sql(
      `insert into spend_cells select $1, 'test', 'merchant', $2::date - ago, $3, '', 'shop ' || n, 1, 1, 0, 0
       from generate_series(${GROUPS - 299}, ${GROUPS}) as n, generate_series(1, 9) as ago`,
      [ownerId, from, agent.id],
    )
    const { data, others } = await inShortTurns(() =>
      bodyOf(client.analytics.anomalies({ query: { from, limit: 2 } })),
    )
    expect(data.map(({ kind, merchant, figures }) => [kind, merchant, figures.amountEuros])).toEqual([
      ['merchant_above_usual', `shop ${GROUPS}`, MOST],
      ['merchant_above_usual', `shop ${GROUPS - 1}`, SECOND],
    ])
    expect(others).toBe(198)
  })

  test('of runs and of merchants, among which costs are divided', async () => {
    for (const [groupBy, group] of [
      ['run', { run: "'run_' || n" }],
      ['merchant', { value: "'shop ' || n" }],
    ] as const) {
      const { client } = await aCrowd(groupBy, group)
      const query = { groupBy, limit: 2 }
      const { data, other } = await inShortTurns(() => bodyOf(client.analytics.allocation({ query })))
      expect(data.map(({ netEuros }) => netEuros)).toEqual([MOST, SECOND])
      expect(other).toMatchObject(REST)
    }
  })

  test('of labels that share what has none, to the cent', async () => {
    const { client } = await aCrowd('run', { run: "case when n = 1 then '' else 'run_' || n end" })
    for (const shared of ['by_spend', 'alike'] as const) {
      const query = { groupBy: 'run', limit: 2, shared }
      const { total, data, other } = await inShortTurns(() => bodyOf(client.analytics.allocation({ query })))
      const cents = [...data, other].reduce(
        (all, part) => all + Math.round((part?.allocatedEuros ?? 0) * 100),
        0,
      )
      expect(cents).toBe(Math.round(total.netEuros * 100))
      expect(
        [...data, other].reduce((all, part) => all + Math.round((part?.sharedEuros ?? 0) * 100), 0),
      ).toBe(0)
    }
  })

  test('of runs without reported outcomes', async () => {
    const { client } = await aCrowd('completed:run', { run: "'run_' || n" })
    const query = { groupBy: 'run', limit: 2 }
    const { total, other } = await inShortTurns(() => bodyOf(client.outcomes.summary({ query })))
    expect(total.unreported).toBe(GROUPS)
    expect(other).toMatchObject({ groups: GROUPS - 2, unreported: GROUPS - 2 })
  })
})

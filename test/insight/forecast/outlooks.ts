import { describe, expect, test } from '@jest/globals'
import { aDelegation, anIntent, aPolicy, aToken, bodyOf, redeemDelegation } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, later, type PayingOwner, pay, steady, todayOf } from '../../support/insight/paying.ts'

const service = await startTestService()

/** Pays on every other day, always more, so that no two days are alike. */
async function payFor(owner: PayingOwner, days: number): Promise<void> {
  for (let day = 0; day < days; day += 2) {
    await pay(owner, 10 + day / 10)
    await later(owner.client, 2)
  }
}

const forecast = ({ client, agent }: PayingOwner, days = 30) =>
  bodyOf(client.forecast.ofAgent({ params: { id: agent.id }, query: { days } }))

const dayBefore = (day = ''): string => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)

describe('the forecast of an agent', () => {
  test('says nothing before a week is known, little in the first month, and more after it', async () => {
    const owner = await aPayingOwner(service)
    expect(await forecast(owner)).toMatchObject({
      agentId: owner.agent.id,
      data: [],
      total: null,
      basis: { method: 'none', days: 0 },
    })
    await payFor(owner, 10)
    const little = await forecast(owner, 3)
    expect(little).toMatchObject({ basis: { method: 'little', days: 10 }, backtest: null })
    expect(little.basis.notes[0]).toContain('Less than 28 days')
    await payFor(owner, 24)
    const { data, total, basis, backtest } = await steady(service, () => forecast(owner, 14))
    expect(basis).toMatchObject({ method: 'same_weekdays', days: 34, frozen: false })
    expect(data[0]?.date).toBe(await todayOf(owner.client))
    expect(data).toHaveLength(14)
    expect(backtest?.days).toBe(6)
    const { lastDays = [] } = backtest ?? {}
    expect(lastDays.map(({ spentEuros }) => spentEuros)).toEqual([11.8, 0, 12, 0, 12.2, 0])
    expect(lastDays.every(({ p10, p50, p90 }) => p10 <= p50 && p50 <= p90)).toBe(true)
    expect(lastDays.at(-1)?.date).toBe(dayBefore(data[0]?.date))
    const middle = data.reduce((sum, { p50 }) => sum + p50, 0)
    expect(total?.p10).toBeLessThanOrEqual(total?.p50 ?? 0)
    expect(total?.p90).toBeLessThan(data.reduce((sum, { p90 }) => sum + p90, 0))
    expect(total?.p90).toBeGreaterThan(middle)
  })

  test('says when budget and wallet are used up, and what is known already', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, shopId } = owner
    await payFor(owner, 30)
    const limitTo = async (monthlyLimitEuros: number) => {
      const { id } = await aPolicy(client, { monthlyLimitEuros, autoApproveLimitEuros: 10_000 })
      await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: id } }))
    }
    await limitTo(100_000)
    const intent = await anIntent(client, agent.id, { walletId: shopId, amountEuros: 7 })
    const far = await forecast(owner)
    expect(far.runsOut).toMatchObject({ budget: { p50: null }, wallet: { p50: null } })
    expect(far.basis.known).toContainEqual({
      kind: 'approved_intent',
      date: intent.expiresAt.slice(0, 10),
      amountEuros: 7,
      original: null,
      merchant: intent.merchant,
      agentId: agent.id,
      intentId: intent.id,
    })
    const { data } = await bodyOf(client.policies.usage({ query: { agentId: agent.id } }))
    await limitTo((data[0]?.month.spentEuros ?? 0) + 7)
    const today = await todayOf(client)
    expect((await forecast(owner)).runsOut.budget).toEqual({ p10: today, p50: today, p90: today })
  })

  test('has an approved intent on its last day at the latest, and no more of it once it is cancelled', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, shopId } = owner
    await payFor(owner, 10)
    const before = await forecast(owner, 7)
    const intent = await anIntent(client, agent.id, {
      walletId: shopId,
      amountEuros: 900,
      expiresInMinutes: 3 * 24 * 60,
    })
    const { data, total } = await forecast(owner, 7)
    const lastDay = intent.expiresAt.slice(0, 10)
    expect(data).toEqual(
      before.data.map(day => (day.date === lastDay ? { date: lastDay, p10: 900, p50: 900, p90: 900 } : day)),
    )
    expect(total?.p10).toBeGreaterThanOrEqual(900)
    expect(total?.p90).toBeLessThanOrEqual(900 + (before.total?.p90 ?? 0))
    await bodyOf(client.intents.cancel({ params: intent, body: {} }))
    expect(await forecast(owner, 7)).toEqual(before)
  })

  test('is as if it were not frozen, and says so', async () => {
    const owner = await aPayingOwner(service)
    await payFor(owner, 8)
    const before = await forecast(owner)
    await bodyOf(owner.client.agents.freeze({ params: { id: owner.agent.id }, body: {} }))
    const { basis, ...frozen } = await forecast(owner)
    expect(frozen).toEqual({ ...before, basis: undefined })
    expect(basis.frozen).toBe(true)
    expect(basis.notes.at(-1)).toContain('frozen')
  })

  test('is for the agent itself, and for no one else', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    const own = service.client(String((await aToken(client, agent.id)).token))
    expect((await own.forecast.ofAgent({ params: { id: agent.id } })).status).toBe(200)
    expect((await own.forecast.ofAgent({ params: { id: holder.id } })).status).toBe(404)
    const { token } = await redeemDelegation(client, await aDelegation(client, agent.id))
    expect((await service.client(String(token)).forecast.ofAgent({ params: { id: agent.id } })).status).toBe(
      404,
    )
    const stranger = await service.owner()
    expect((await stranger.client.forecast.ofAgent({ params: { id: agent.id } })).status).toBe(404)
  })
})

test('the forecast of an owner is of all agents, and of the budget that they share', async () => {
  const owner = await aPayingOwner(service)
  await payFor(owner, 8)
  await pay(owner, 5)
  await bodyOf(owner.client.policies.setBudget({ body: { dailyLimitEuros: null, monthlyLimitEuros: 1 } }))
  const { agentId, basis, runsOut } = await bodyOf(owner.client.forecast.ofOwner({ query: { days: 5 } }))
  expect({ agentId, method: basis.method }).toEqual({ agentId: null, method: 'little' })
  expect(runsOut.wallet).toEqual({ p10: null, p50: null, p90: null })
  const today = await todayOf(owner.client)
  expect(runsOut.budget).toEqual({ p10: today, p50: today, p90: today })
})

import { describe, expect, test } from '@jest/globals'
import { deciderOf, inDays, mandatesIn } from '../../support/control/mandates.ts'
import { aDelegation, aRun, bodyOf, redeemDelegation } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent, aMandate } = mandatesIn(service, service.url)

type Subject = Awaited<ReturnType<typeof anOwnerWithAgent>>

const get = ({ client }: Subject, { id }: { id: string }) => bodyOf(client.mandates.get({ params: { id } }))

describe('an intent inside a mandate', () => {
  test('is approved without a person, by the mandate, which the decision names with what it leaves', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, {
      perTransactionEuros: 30,
      perMonthEuros: 70,
      totalEuros: 500,
      count: 9,
    })
    const intent = await owner.buy(25)
    const { id, name, expiresAt } = mandate
    expect(intent).toMatchObject({
      status: 'approved',
      workflowId: null,
      decidedBy: { type: 'mandate', id, name },
      decision: {
        requiresApproval: false,
        reason:
          'The mandate Books approves the intent without a person, and then leaves € 45.00 this month, € 475.00 in all and 8 payments.',
        mandate: {
          id,
          name,
          expiresAt,
          perTransactionEuros: 30,
          dayLeftEuros: null,
          monthLeftEuros: 45,
          totalLeftEuros: 475,
          countLeft: 8,
        },
      },
    })
    expect(await get(owner, mandate)).toMatchObject({
      heldEuros: 25,
      spentEuros: 0,
      dayLeftEuros: null,
      monthLeftEuros: 45,
      totalLeftEuros: 475,
      countLeft: 8,
    })
    const events = await service.sql(
      `select event from events where data ->> 'mandateId' = $1 and data ->> 'intentId' = $2`,
      [id, intent.id],
    )
    expect(events).toEqual([{ event: 'intent.approved' }])
    const explained = await bodyOf(owner.client.intents.explanation({ params: intent }))
    expect(explained.summary).toBe(`The intent is approved: ${intent.decision.reason}`)
    const rules = new Map(explained.rules.map(({ rule, ...rest }) => [rule, rest]))
    expect(rules.get('mandate')).toMatchObject({ outcome: 'pass', remedy: null })
    expect(rules.get('autoApproveLimitEuros')?.message).toMatch(/A mandate replaces the person’s approval\.$/)
  })

  test('needs no policy', async () => {
    const owner = await anOwnerWithAgent()
    const { id } = await bodyOf(owner.client.agents.create({ body: { name: 'Free' } }))
    const free = { ...owner, id }
    const mandate = await aMandate(free, { totalEuros: 50 })
    const { walletId } = await bodyOf(owner.client.agents.get({ params: { id } }))
    const buy = () =>
      owner.buy(25, {}).then(() =>
        bodyOf(
          owner.client.intents.create({
            body: { agentId: id, amountEuros: 25, merchant: 'Bookshop', purpose: 'P' },
          }),
        ),
      )
    expect((await buy()).status).toBe('denied')
    await bodyOf(owner.client.fund.wallet({ params: { id: walletId }, body: { amountEuros: 100 } }))
    expect(deciderOf(await buy())).toBe(mandate.id)
  })

  test('uses nothing of it where the policy approves by itself, or a person does', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 30 })
    expect(deciderOf(await owner.buy(1))).toBe('policy')
    const above = await owner.buy(31)
    expect(above.decision.checks.find(({ rule }) => rule === 'mandate')).toMatchObject({
      outcome: 'skip',
      message: 'The mandate Books has € 30.00 left in all.',
    })
    await bodyOf(owner.client.intents.approve({ params: above }))
    expect(await get(owner, mandate)).toMatchObject({ heldEuros: 0, totalLeftEuros: 30 })
  })

  test('an intent by mandate counts in all other budgets, which can deny it', async () => {
    const owner = await anOwnerWithAgent({ dailyLimitEuros: 60 })
    const mandate = await aMandate(owner, { totalEuros: 500 })
    const run = await aRun(owner.client, owner.id, { budgetEuros: 30 })
    expect(deciderOf(await owner.buy(20, { runId: run.id }))).toBe(mandate.id)
    expect((await owner.buy(20, { runId: run.id })).status).toBe('denied')
    const { code } = await aDelegation(owner.client, owner.id, { maxAmountEuros: 20 })
    const { token } = await redeemDelegation(service.client(), { code })
    const delegate = service.client(String(token))
    expect(deciderOf(await owner.buy(20, {}, delegate))).toBe(mandate.id)
    expect((await owner.buy(1.5, {}, delegate)).status).toBe('denied')
    expect(deciderOf(await owner.buy(20))).toBe(mandate.id)
    expect((await owner.buy(2)).decision.reason).toMatch(/^The daily limit of € 60\.00 is reached/)
    expect(await get(owner, mandate)).toMatchObject({ heldEuros: 60 })
  })

  test('still waits for a person where it may be a duplicate, or is unusual', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 500 })
    const { id: runId } = await aRun(owner.client, owner.id)
    const again = { runId, merchant: 'Bookshop' }
    expect(deciderOf(await owner.buy(20, again))).toBe(mandate.id)
    const duplicate = await owner.buy(20, again)
    expect([deciderOf(duplicate), duplicate.decision.mandate]).toEqual(['nobody', null])
    const weights = { velocity: 0, amountOutlier: 0, impossibleTravel: 0, newMerchant: 60, oddHour: 0 }
    await bodyOf(owner.client.risk.configure({ body: { weights } }))
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    expect(await get(owner, mandate)).toMatchObject({ heldEuros: 20 })
  })

  test('still waits for a passkey where the policy asks for one', async () => {
    const owner = await anOwnerWithAgent({ requireAttestation: true })
    await aMandate(owner, { totalEuros: 500 })
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
  })

  test('is simulated as it is decided', async () => {
    const owner = await anOwnerWithAgent()
    await aMandate(owner, { totalEuros: 40, merchants: ['Shop'] })
    for (const [amount, members] of [
      [25, {}],
      [25, {}],
      [25, { merchant: 'Library' }],
    ] as const) {
      const { id: _, ...simulated } = await owner.simulate(amount, members)
      const { id: _id, ...decided } = (await owner.buy(amount, { merchant: 'Shop', ...members })).decision
      expect(simulated).toEqual(decided)
    }
  })
})

describe('of two mandates', () => {
  test('of two mandates, the one that ends first is used first', async () => {
    const owner = await anOwnerWithAgent()
    const later = await aMandate(owner, { totalEuros: 50 }, { name: 'Later', expiresAt: inDays(20) })
    const sooner = await aMandate(owner, { totalEuros: 50 }, { name: 'Sooner', expiresAt: inDays(10) })
    const deciders = []
    for (const amount of [30, 30, 20, 20, 10]) deciders.push(deciderOf(await owner.buy(amount)))
    expect(deciders).toEqual([sooner.id, later.id, sooner.id, later.id, 'nobody'])
    const { decision } = await owner.buy(10)
    expect(decision.checks.find(({ rule }) => rule === 'mandate')?.message).toBe(
      'The mandate Sooner has € 0.00 left in all. The mandate Later has € 0.00 left in all.',
    )
  })

  test('ignores a mandate of another agent', async () => {
    const owner = await anOwnerWithAgent()
    const other = await bodyOf(owner.client.agents.create({ body: { name: 'Other' } }))
    await aMandate({ ...owner, id: other.id }, { totalEuros: 500 })
    const intent = await owner.buy(20)
    expect([deciderOf(intent), intent.decision.checks.some(({ rule }) => rule === 'mandate')]).toEqual([
      'nobody',
      false,
    ])
  })
})

describe('a backtest', () => {
  const span = { from: '2026-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }

  test('a backtest under a stricter policy uses a mandate up to its limits', async () => {
    const owner = await anOwnerWithAgent({ autoApproveLimitEuros: 20 })
    await aMandate(owner, { totalEuros: 50 })
    for (const amount of [20, 20, 20, 10, 5]) expect(deciderOf(await owner.buy(amount))).toBe('policy')
    const policy = await bodyOf(
      owner.client.policies.create({ body: { name: 'Strict', autoApproveLimitEuros: 5 } }),
    )
    const answer = await bodyOf(owner.client.policies.backtest({ params: policy, body: span }))
    expect([answer.same.count, answer.newlyToPerson.count]).toEqual([4, 1])
    expect(answer.newlyToPerson.amountEuros).toBe(20)
  })

  test('under a policy that asks less often leaves the mandate to later ones', async () => {
    const owner = await anOwnerWithAgent({ autoApproveLimitEuros: 1 })
    const mandate = await aMandate(owner, { totalEuros: 50, count: 2 })
    for (const amount of [10, 30]) expect(deciderOf(await owner.buy(amount))).toBe(mandate.id)
    const body = { name: 'Mild', autoApproveLimitEuros: 10 }
    const policy = await bodyOf(owner.client.policies.create({ body }))
    const answer = await bodyOf(owner.client.policies.backtest({ params: policy, body: span }))
    expect(answer.same).toEqual({ count: 2, amountEuros: 40 })
  })
})

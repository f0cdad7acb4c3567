import { describe, expect, test } from '@jest/globals'
import { atOnce, rowOf, statusCounts, times } from '../../support/at-once.ts'
import { expectSameDecisions } from '../../support/control/decide-again.ts'
import { onlySignal, riskFixtures } from '../../support/control/risk.ts'
import { aFundedAgent, aPolicy, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const elsewhere = await service.another()
const { riskEventsOf, eventNamesOf, anAssessedAgent } = riskFixtures(service, elsewhere)

describe('an agent that risk has frozen', () => {
  const strict = onlySignal('newMerchant', 95)

  test('has its spend denied and an alert, and spends again once a person unfreezes it', async () => {
    const { declare, client, id, params, readAgent } = await anAssessedAgent(strict)
    const denied = await declare()
    const reason = 'The risk is 95 of 100. The agent has never paid this merchant (95).'
    expect(denied).toMatchObject({ status: 'denied', decision: { riskScore: 95, reason } })
    expect(await readAgent()).toMatchObject({ status: 'frozen', frozenReason: reason })
    expect(await eventNamesOf(id)).toEqual(['agent.frozen', 'risk.agent_frozen', 'risk.alert_created'])
    const whileFrozen = await client.intents.create({
      body: { agentId: id, amountEuros: 1, merchant: 'Bookshop', purpose: 'P' },
    })
    expect([whileFrozen.status, whileFrozen.code]).toEqual([400, 'agent_not_active'])

    const open = await bodyOf(client.risk.alerts({ query: { status: 'open', agentId: id } }))
    expect(open.data).toEqual([
      expect.objectContaining({
        agentId: id,
        score: 95,
        subjectType: 'intent',
        subjectId: denied.id,
        liftedAt: null,
        signals: [{ signal: 'newMerchant', points: 95, message: 'The agent has never paid this merchant.' }],
      }),
    ])
    const alert = { id: String(open.data[0]?.id) }
    const frozen = (await riskEventsOf(id)).find(({ event }) => event === 'risk.agent_frozen')
    expect(frozen?.data).toMatchObject({ alertId: alert.id, intentId: denied.id })

    const acknowledged = await bodyOf(
      client.risk.acknowledge({ params: alert, body: { comment: 'Looking' } }),
    )
    expect(acknowledged).toMatchObject({
      status: 'acknowledged',
      comment: 'Looking',
      acknowledgedAt: acknowledged.updatedAt,
    })
    expect((await client.risk.acknowledge({ params: alert })).code).toBe('alert_acknowledged')
    expect((await bodyOf(client.risk.alerts({ query: { status: 'open' } }))).data).toEqual([])
    expect((await readAgent()).status).toBe('frozen')

    expect(await bodyOf(client.risk.unfreeze({ params, body: { comment: 'Meant' } }))).toMatchObject({
      id,
      status: 'active',
      frozenReason: null,
    })
    expect((await declare()).status).toBe('approved')
    const [last] = (await bodyOf(client.risk.events({ query: { agentId: id } }))).data
    expect(last).toMatchObject({ outcome: 'unfreeze', alertId: alert.id, comment: 'Meant', signals: [] })
    expect((await eventNamesOf(id)).slice(0, 2)).toEqual(['agent.frozen', 'agent.unfrozen'])
    const [lifted] = (await bodyOf(client.risk.alerts())).data
    expect(lifted).toMatchObject({ status: 'acknowledged', comment: 'Meant', liftedAt: last?.createdAt })
  })

  test('is unfrozen by the risk operation only, which closes its alert with the comment', async () => {
    const { declare, client, id, params, readAgent } = await anAssessedAgent(strict)
    await declare()
    const [open] = (await bodyOf(client.risk.alerts({ query: { status: 'open', agentId: id } }))).data
    expect(await readAgent()).toMatchObject({ status: 'frozen', frozenByAlertId: open?.id })
    const refused = await client.agents.unfreeze({ params })
    expect([refused.status, refused.code]).toEqual([400, 'frozen_by_risk'])
    expect(refused.error).toContain(`review ${open?.id}`)
    expect(refused.error).toContain(`POST /risk/agents/${id}/unfreeze`)
    expect((await readAgent()).status).toBe('frozen')

    const body = { comment: 'It was meant' }
    const answers = await times(3, () => client.risk.unfreeze({ params, body }))
    expect(statusCounts(answers)).toEqual({ 200: 1, 400: 2 })
    expect(await readAgent()).toMatchObject({ status: 'active', frozenByAlertId: null })
    const [closed] = (await bodyOf(client.risk.alerts({ query: { agentId: id } }))).data
    expect(closed).toMatchObject({ id: open?.id, status: 'acknowledged', ...body })
    expect(closed?.liftedAt).toBe(closed?.acknowledgedAt)
    const names = await eventNamesOf(id)
    expect(names.filter(event => event === 'risk.alert_acknowledged')).toHaveLength(1)
  })

  test('keeps the comment of its alert if it is unfrozen without one', async () => {
    const { declare, client, id, params } = await anAssessedAgent(strict)
    await declare()
    const [open] = (await bodyOf(client.risk.alerts({ query: { agentId: id } }))).data
    await bodyOf(
      client.risk.acknowledge({ params: { id: String(open?.id) }, body: { comment: 'We are looking' } }),
    )
    await bodyOf(client.risk.unfreeze({ params }))
    const [closed] = (await bodyOf(client.risk.alerts({ query: { agentId: id } }))).data
    expect(closed).toMatchObject({ comment: 'We are looking', liftedAt: expect.any(String) })
  })

  test('keeps an acknowledgement that comes while it is unfrozen', async () => {
    const { declare, client, id, params } = await anAssessedAgent(strict)
    await declare()
    const [open] = (await bodyOf(client.risk.alerts({ query: { agentId: id } }))).data
    const alert = { id: String(open?.id) }
    const [acknowledged, unfrozen] = await atOnce(
      service,
      rowOf('risk_alerts', alert.id),
      () => bodyOf(client.risk.acknowledge({ params: alert, body: { comment: 'We are looking' } })),
      () => bodyOf(client.risk.unfreeze({ params })),
    )
    const { acknowledgedAt } = acknowledged
    expect(unfrozen.status).toBe('active')
    const [closed] = (await bodyOf(client.risk.alerts({ query: { agentId: id } }))).data
    expect(closed).toMatchObject({ comment: 'We are looking', acknowledgedAt, liftedAt: expect.any(String) })
    const names = await eventNamesOf(id)
    expect(names.filter(event => event === 'risk.alert_acknowledged')).toHaveLength(1)
  })

  test('differs from one that a person has frozen', async () => {
    const { declare, client, params, readAgent } = await anAssessedAgent(strict)
    const expectRefusal = async () => {
      const { status, code, error } = await client.risk.unfreeze({ params })
      expect([status, code, error]).toEqual([
        400,
        'not_frozen_by_risk',
        expect.stringMatching(/POST \/agents\/\{id\}\/unfreeze/),
      ])
    }
    await expectRefusal()
    await declare()
    await bodyOf(client.risk.unfreeze({ params }))
    await bodyOf(client.agents.freeze({ params }))
    await expectRefusal()
    expect((await readAgent()).status).toBe('frozen')
  })

  test('spends again within the minute in which it was frozen for velocity', async () => {
    const { declare, client, params, readAgent } = await anAssessedAgent({
      ...onlySignal('velocity', 100),
      velocityCount: 2,
    })
    for (let n = 0; n < 3; n++) await declare()
    expect((await readAgent()).status).toBe('frozen')
    await bodyOf(client.risk.unfreeze({ params }))
    expect([(await declare()).status, (await declare()).status]).toEqual(['approved', 'approved'])
    expect((await declare()).status).toBe('denied')
  })

  test('spends nothing after the freezing spend, in a burst on two processes', async () => {
    const { client, id, clientOf, readAgent } = await anAssessedAgent({
      ...onlySignal('velocity', 100),
      velocityCount: 10,
    })
    const other = await aFundedAgent(client, {
      policyId: (await aPolicy(client, { autoApproveLimitEuros: 50 })).id,
    })
    const declare = (n: number, agentId: string) =>
      clientOf(n).intents.create({
        body: { agentId, amountEuros: n + 1, merchant: `Shop ${n}`, purpose: 'P' },
      })
    const [answers, otherAnswers] = await Promise.all([
      times(100, n => declare(n, id)),
      times(10, n => declare(n, other.id)),
    ])
    expect(statusCounts(answers)).toEqual({ 201: 11, 400: 89 })
    expect(answers.filter(({ body }) => body?.status === 'approved')).toHaveLength(10)
    expect(answers.filter(({ body }) => body?.status === 'denied')).toHaveLength(1)
    expect(new Set(otherAnswers.map(({ body }) => body.status))).toEqual(new Set(['approved']))
    expect((await readAgent()).status).toBe('frozen')
    expect(await eventNamesOf(id)).toEqual([
      'agent.frozen',
      'risk.agent_frozen',
      'risk.alert_created',
      'risk.velocity_alert',
    ])
    expect((await bodyOf(client.risk.alerts())).data).toHaveLength(1)
  })
})

test('every decision of these tests replays to the same result', async () => {
  const unusual = (await expectSameDecisions(service)).filter(
    ({ request }) => request.risk && request.risk.outcome !== 'pass',
  )
  expect(unusual.length).toBeGreaterThan(4)
})

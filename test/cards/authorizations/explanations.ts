import { describe, expect, test } from '@jest/globals'
import { cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { balanceOf, client, eventsOf, network, paymentsOf, service } from './service.ts'

describe('an explanation', () => {
  test('an explanation lists every rule, and what would avoid the decline', async () => {
    const { card } = await aPayingCard(client, 100, { rules: { maxTransactionEuros: 20 } })
    await network.authorize(card.id, 25)
    const [payment] = await paymentsOf(card.id)
    const params = { id: card.id, authorizationId: String(payment?.id) }
    const told = await bodyOf(client.authorizations.explanation({ params }))
    expect(told.rules.length).toBeGreaterThan(20)
    expect(told.rules).toContainEqual(
      expect.objectContaining({ rule: 'maxTransactionEuros', outcome: 'fail' }),
    )
    expect(told.remedies).toEqual(['Choose a smaller amount, or raise the limit for one payment.'])
    expect(told.summary).toContain('declined')
  })

  test('is found by the id that the sandbox’s network has answered, within its card', async () => {
    const [{ card }, other] = await Promise.all([aPayingCard(client, 100), aPayingCard(client, 100)])
    const body = { cardId: card.id, amountEuros: 5, merchant: 'Bookshop' }
    const authorizationId = String((await bodyOf(client.sandbox.authorizeCard({ body }))).authorizationId)
    const params = { id: card.id, authorizationId }
    const [payment] = await paymentsOf(card.id)
    expect(await bodyOf(client.authorizations.explanation({ params }))).toMatchObject({
      authorizationId: payment?.id,
    })
    expect(await bodyOf(client.authorizations.get({ params }))).toEqual(payment)
    const foreign = { id: other.card.id, authorizationId }
    expect((await client.authorizations.explanation({ params: foreign })).code).toBe(
      'authorization_not_found',
    )
  })

  test('is given by a simulation beforehand, with the same answer, and nothing is stored', async () => {
    const { agent, card } = await aPayingCard(client, 100, { rules: { maxTransactionEuros: 45 } })
    const intent = await anIntent(client, agent.id, { amountEuros: 40 })
    const { descriptor, mcc, country } = bookshop
    const simulate = (amountEuros: number) =>
      bodyOf(
        client.authorizations.simulate({
          params: { id: card.id },
          body: { amountEuros, merchant: descriptor, mcc, country },
        }),
      )
    const [covered, refused] = [await simulate(44), await simulate(46)]
    expect(covered).toMatchObject({ approved: true, source: 'intent', intentId: intent.id })
    expect(refused).toMatchObject({ approved: false, intentId: null })
    expect([await paymentsOf(card.id), await balanceOf(agent.id)]).toEqual([[], [56, 44]])
    const declined = await network.authorize(card.id, 46)
    expect(declined.reply).toEqual({ kind: 'declined', reason: refused.reason })
    const approved = await network.authorize(card.id, 44)
    expect(approved.reply).toMatchObject({ kind: 'approved', approvedCents: 4_400n })
    const [payment] = await paymentsOf(card.id)
    expect(payment?.decision?.checks).toEqual(covered.decision.checks)
  })
})

test('each step of a card payment emits one event with its amount at the time', async () => {
  const { client: own, ownerId } = await service.owner()
  const { card } = await aPayingCard(own, 100)
  const paid = await network.authorize(card.id, 30)
  await network.send(card.id, {
    kind: 'authorization',
    authorizationId: paid.authorizationId,
    ask: 1,
    amountCents: cents(500n),
    partialAllowed: false,
    merchant: bookshop,
  })
  await network.clear(card.id, paid.authorizationId, 35)
  await network.refund(card.id, paid.authorizationId, 35)
  await network.authorize(card.id, 500)
  const events = await eventsOf(ownerId, 'transaction.%')
  expect(events.map(({ event, data }) => `${event.slice(12)} ${data.amountEuros} ${data.status}`)).toEqual([
    'created 30 authorization',
    'authorization 30 authorization',
    'updated 35 authorization',
    'settlement 35 settlement',
    'settled 35 settled',
    'completed 35 completed',
    'refunded 35 refunded',
    'created 500 authorization',
    'declined 500 declined',
  ])
})

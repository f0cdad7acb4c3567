import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { cents, NO_CENTS } from '../../../src/values/money.ts'
import { atOnce, rowOf } from '../../support/at-once.ts'
import { aPayingCard, bookshop, networkBefore } from '../../support/cards/network.ts'
import { anIntent, aToken, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const network = networkBefore(service)

const confirm = (client: TestClient, intentId: string, idempotencyKey = newId('key')) =>
  client.checkout.confirm({ body: { intentId }, idempotencyKey })

/** The merchant asks, and the network clears. */
async function charge(cardId: string, euros: number): Promise<void> {
  const { authorizationId } = await network.authorize(cardId, euros)
  await network.clear(cardId, authorizationId, euros)
}

async function approved(amountEuros = 40) {
  const { client, key } = await service.owner()
  const { agent, card } = await aPayingCard(client, 100)
  const intent = await anIntent(client, agent.id, { amountEuros, merchant: 'Bookshop' })
  return { client, key, agent, card, intent }
}

async function stateOf(client: TestClient, agentId: string, intentId: string) {
  const { availableEuros, heldEuros } = await bodyOf(client.agents.balance({ params: { id: agentId } }))
  const { status, transactionId } = await bodyOf(client.intents.get({ params: { id: intentId } }))
  const transactions = (await bodyOf(client.transactions.list({ query: { intentId } }))).data
  const accounts = (await bodyOf(client.ledger.accounts({}))).data
  const clearing = accounts.find(({ kind }) => kind === 'clearing_cards')?.postedEuros ?? 0
  return {
    availableEuros,
    heldEuros,
    status,
    clearing,
    transactions: transactions.map(({ id, status, amountEuros, refundedEuros, witnesses }) => ({
      isOfIntent: id === transactionId,
      status,
      amountEuros,
      refundedEuros,
      witnesses: witnesses.map(({ type }) => type).sort(),
    })),
  }
}

describe('a checkout that is confirmed', () => {
  test('completes the intent with one transaction, and captures what is held', async () => {
    const { client, agent, intent } = await approved()
    const answer = await bodyOf(confirm(client, intent.id))
    expect(answer).toMatchObject({ status: 'completed', intentId: intent.id })
    expect(await stateOf(client, agent.id, intent.id)).toEqual({
      availableEuros: 60,
      heldEuros: 0,
      status: 'completed',
      clearing: 40,
      transactions: [
        { isOfIntent: true, status: 'completed', amountEuros: 40, refundedEuros: 0, witnesses: ['checkout'] },
      ],
    })
    await expectVerifiedLedger(client)
  })

  const orders = [
    ['before the authorization', ['confirm', 'authorize', 'clear']],
    ['between authorization and clearing', ['authorize', 'confirm', 'clear']],
    ['after the clearing', ['authorize', 'clear', 'confirm']],
    ['before a clearing without an authorization', ['confirm', 'clear']],
  ] as const
  test.each(orders)('is the same payment %s', async (_, order) => {
    const { client, agent, card, intent } = await approved()
    let authorizationId: string | null = null
    for (const step of order) {
      if (step === 'confirm') await bodyOf(confirm(client, intent.id))
      if (step === 'clear') await network.clear(card.id, authorizationId, 42)
      if (step === 'authorize') {
        const answered = await network.authorize(card.id, 42)
        expect(answered.reply).toMatchObject({ approvedCents: 4_200n })
        authorizationId = answered.authorizationId
      }
    }
    const state = await stateOf(client, agent.id, intent.id)
    expect(state).toMatchObject({ availableEuros: 58, heldEuros: 0, status: 'completed', clearing: 0 })
    expect(state.transactions).toMatchObject([{ isOfIntent: true, status: 'completed', amountEuros: 42 }])
    await expectVerifiedLedger(client)
  })

  test('shows all that has left the wallet until its last clearing', async () => {
    const { client, agent, card, intent } = await approved()
    await bodyOf(confirm(client, intent.id))
    const { authorizationId } = await network.authorize(card.id, 25)
    const clear = (final: boolean) =>
      network.clear(card.id, authorizationId, 25, { clearingId: `${intent.id} 1`, final })
    const shown = async () => {
      const { availableEuros, transactions } = await stateOf(client, agent.id, intent.id)
      return [availableEuros, transactions.map(({ amountEuros }) => amountEuros)]
    }
    await clear(false)
    expect(await shown()).toEqual([60, [40]])
    await clear(true)
    expect(await shown()).toEqual([75, [25]])
    await expectVerifiedLedger(client)
  })

  test('is refunded in full by all that has left the wallet, also before its last clearing', async () => {
    const { client, agent, card, intent } = await approved()
    const { transactionId } = await bodyOf(confirm(client, intent.id))
    const { authorizationId } = await network.authorize(card.id, 40)
    const clear = (euros: number, final: boolean) =>
      network.clear(card.id, authorizationId, euros, { clearingId: `${intent.id} ${euros}`, final })
    await clear(25, false)
    const body = { transactionId: String(transactionId), reason: 'other' } as const
    const refund = await bodyOf(client.refunds.create({ body }))
    await network.refund(card.id, authorizationId, 40)
    const refunds = async () => {
      const { data } = await bodyOf(client.refunds.list({ query: {} }))
      return data.map(({ id, status, arrivedEuros }) => ({ id, status, arrivedEuros }))
    }
    const all = [{ id: refund.id, status: 'completed', arrivedEuros: 40 }]
    expect(await refunds()).toEqual(all)
    await clear(15, true)
    expect(await refunds()).toEqual(all)
    expect(await stateOf(client, agent.id, intent.id)).toMatchObject({
      ...{ availableEuros: 100, clearing: 0 },
      transactions: [{ status: 'refunded', amountEuros: 40, refundedEuros: 40 }],
    })
    await expectVerifiedLedger(client)
  })

  test('is the payment of the card that was issued for its intent, which ends with the clearing', async () => {
    const { client, agent, intent } = await approved()
    const limits = { dailyLimitEuros: 50 }
    const body = { agentId: agent.id, usage: 'single', intentId: intent.id, limits } as const
    const { id } = await bodyOf(client.cards.create({ body }))
    await bodyOf(confirm(client, intent.id))
    const { authorizationId, reply } = await network.authorize(id, 40)
    expect(reply).toMatchObject({ kind: 'approved' })
    await network.clear(id, authorizationId, 40)
    expect(await stateOf(client, agent.id, intent.id)).toMatchObject({
      ...{ availableEuros: 60, heldEuros: 0, status: 'completed', clearing: 0 },
      transactions: [{ isOfIntent: true, status: 'completed', amountEuros: 40 }],
    })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const card = await bodyOf(client.cards.get({ params: { id } }))
    expect(card).toMatchObject({ status: 'closed', closedReason: 'spent' })
    await expectVerifiedLedger(client)
  })

  test.each([
    [42, 'approved', 42],
    [42, 'declined', 41],
  ] as const)('that is charged with %d € is %s where its card has a limit of %d €', async (...given) => {
    const [euros, kind, dailyLimitEuros] = given
    const { client, agent, intent } = await approved()
    const body = {
      agentId: agent.id,
      usage: 'single',
      intentId: intent.id,
      limits: { dailyLimitEuros },
    } as const
    const { id } = await bodyOf(client.cards.create({ body }))
    await bodyOf(confirm(client, intent.id))
    expect((await network.authorize(id, euros)).reply.kind).toBe(kind)
  })

  test('is paid by a card that was issued for its intent while the confirmation began', async () => {
    const { client, agent, intent } = await approved()
    const body = { agentId: agent.id, usage: 'single', intentId: intent.id } as const
    const [card, confirmed] = await atOnce(
      service,
      rowOf('agents', agent.id),
      () => client.cards.create({ body }),
      () => confirm(client, intent.id),
    )
    expect([card.status, confirmed.status]).toEqual([201, 200])
    expect(await stateOf(client, agent.id, intent.id)).toMatchObject({ availableEuros: 60, clearing: 40 })
    await expectVerifiedLedger(client)
  })

  test('is the same payment, although others with the merchant are awaited, too', async () => {
    const { client, agent, card, intent } = await approved()
    for (const amountEuros of [45, 1, 2, 3, 4]) {
      const other = await anIntent(client, agent.id, { amountEuros, merchant: 'Bookshop' })
      await bodyOf(confirm(client, other.id))
    }
    await bodyOf(confirm(client, intent.id))
    for (const euros of [40, 45]) {
      await charge(card.id, euros)
    }
    const state = await stateOf(client, agent.id, intent.id)
    expect(state).toMatchObject({ availableEuros: 5, heldEuros: 0, clearing: 10 })
    await expectVerifiedLedger(client)
  })

  test.each(['a declaration', 'a confirmation'])('is found by %s, though its name is cut off', async kind => {
    const { client } = await service.owner()
    const { agent, card } = await aPayingCard(client, 100)
    const merchant = 'Bookshop of Immanuel Kant in Berlin'
    const intent = await anIntent(client, agent.id, { amountEuros: 40, merchant })
    if (kind === 'a confirmation') await bodyOf(confirm(client, intent.id))
    const named = { descriptor: merchant.slice(0, 22).toUpperCase(), city: null, country: null }
    const { authorizationId } = await network.authorize(card.id, 40, named)
    await network.clear(card.id, authorizationId, 40, { merchant: { ...bookshop, ...named } })
    const state = await stateOf(client, agent.id, intent.id)
    expect(state).toMatchObject({ availableEuros: 60, heldEuros: 0, status: 'completed', clearing: 0 })
    await expectVerifiedLedger(client)
  })

  const checks: readonly (readonly [string, (cardId: string) => Promise<{ reply: { kind: string } }>])[] = [
    ['asked', cardId => network.authorize(cardId, 0)],
    [
      'been answered by the processor',
      cardId =>
        network.send(cardId, {
          kind: 'outcome',
          authorizationId: newId('iauth'),
          asks: [{ amountCents: NO_CENTS, approved: true }],
          merchant: bookshop,
        }),
    ],
  ]
  test.each(checks)('is the same payment although a check of the card has %s before', async (_, check) => {
    const { client, agent, card, intent } = await approved()
    await bodyOf(confirm(client, intent.id))
    expect((await check(card.id)).reply.kind).not.toBe('declined')
    await charge(card.id, 40)
    const state = await stateOf(client, agent.id, intent.id)
    expect(state).toMatchObject({ availableEuros: 60, heldEuros: 0, clearing: 0 })
    expect(state.transactions).toMatchObject([{ isOfIntent: true, status: 'completed', amountEuros: 40 }])
    await expectVerifiedLedger(client)
  })

  test('is paid by the request that is approved, although one under another id was declined before', async () => {
    const { client, agent, card, intent } = await approved()
    await bodyOf(confirm(client, intent.id))
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    const declined = await network.authorize(card.id, 40)
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id }, body: {} }))
    const { authorizationId, reply } = await network.authorize(card.id, 40)
    expect([declined.reply.kind, reply.kind]).toEqual(['declined', 'approved'])
    await network.clear(card.id, authorizationId, 40)
    const state = await stateOf(client, agent.id, intent.id)
    expect(state).toMatchObject({ availableEuros: 60, heldEuros: 0, status: 'completed', clearing: 0 })
    expect(state.transactions.filter(({ isOfIntent }) => isOfIntent)).toMatchObject([
      { status: 'completed', amountEuros: 40 },
    ])
    expect(state.transactions.filter(({ isOfIntent }) => !isOfIntent)).toMatchObject([{ status: 'declined' }])
    await expectVerifiedLedger(client)
  })

  /** Declined here, since the agent was frozen for a moment. The network may pay it all the same. */
  async function confirmedAndDeclined() {
    const { client, agent, card, intent } = await approved()
    await bodyOf(confirm(client, intent.id))
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    const { authorizationId } = await network.authorize(card.id, 40)
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id }, body: {} }))
    const approve = () =>
      network.send(card.id, {
        kind: 'outcome',
        authorizationId,
        asks: [{ amountCents: cents(4_000n), approved: true }],
        merchant: bookshop,
      })
    const clear = (euros: number, final = true) => network.clear(card.id, authorizationId, euros, { final })
    return {
      client,
      card,
      authorizationId,
      approve,
      clear,
      state: () => stateOf(client, agent.id, intent.id),
    }
  }

  const paidByDeclined = { availableEuros: 60, heldEuros: 0, status: 'completed', clearing: 0 }

  test.each([
    ['clears', false, [40]],
    ['approves and clears', true, [40]],
    ['clears in parts', false, [25, 15]],
  ] as const)('is paid by a declined request that the network %s', async (_, isApproved, amounts) => {
    const { client, approve, clear, state } = await confirmedAndDeclined()
    if (isApproved) await approve()
    for (const [index, euros] of amounts.entries()) await clear(euros, index === amounts.length - 1)
    expect(await state()).toMatchObject(paidByDeclined)
    await expectVerifiedLedger(client)
  })

  test('is refunded by the refund of a declined request that the network has cleared', async () => {
    const { client, card, authorizationId, clear, state } = await confirmedAndDeclined()
    await clear(40)
    await network.refund(card.id, authorizationId, 15)
    const { transactions, ...money } = await state()
    expect(money).toMatchObject({ ...paidByDeclined, availableEuros: 75 })
    expect(transactions.filter(({ isOfIntent }) => isOfIntent)).toMatchObject([
      { status: 'completed', amountEuros: 40, refundedEuros: 15 },
    ])
    expect(transactions.filter(({ isOfIntent }) => !isOfIntent)).toMatchObject([{ status: 'declined' }])
    await expectVerifiedLedger(client)
  })

  test('is undone by the reversal of a declined request that the network has approved', async () => {
    const { client, card, authorizationId, approve, state } = await confirmedAndDeclined()
    await approve()
    await network.reverse(card.id, authorizationId)
    expect(await state()).toMatchObject({ availableEuros: 100, heldEuros: 0, clearing: 0 })
    await expectVerifiedLedger(client)
  })

  test('is one payment, also if its refund comes first and names no payment', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aPayingCard(client, 100)
    const intent = await anIntent(client, agent.id, {
      ...{ amountEuros: 40, merchant: 'Bookshop', cardId: card.id },
    })
    const { transactionId } = await bodyOf(confirm(client, intent.id))
    const body = { transactionId: String(transactionId), reason: 'other' } as const
    await bodyOf(client.refunds.create({ body }))
    await network.refund(card.id, null, 40)
    await charge(card.id, 40)
    const state = await stateOf(client, agent.id, intent.id)
    expect(state).toMatchObject({ availableEuros: 100, heldEuros: 0, clearing: 0 })
    expect(state.transactions).toMatchObject([{ isOfIntent: true, status: 'refunded', refundedEuros: 40 }])
    await expectVerifiedLedger(client)
  })

  test('a confirmed payment is refunded in full after 31 days without a report of the network', async () => {
    const { client, agent, intent } = await approved()
    await bodyOf(confirm(client, intent.id))
    await bodyOf(client.sandbox.advance({ body: { days: 30 } }))
    expect(await stateOf(client, agent.id, intent.id)).toMatchObject({ availableEuros: 60, clearing: 40 })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1_441 } }))
    expect(await stateOf(client, agent.id, intent.id)).toEqual({
      availableEuros: 100,
      heldEuros: 0,
      status: 'completed',
      clearing: 0,
      transactions: [
        {
          isOfIntent: true,
          status: 'refunded',
          amountEuros: 40,
          refundedEuros: 40,
          witnesses: ['checkout', 'unconfirmed'],
        },
      ],
    })
    await expectVerifiedLedger(client)
  })

  test('is booked once by five confirmations at once; the others are refused', async () => {
    const { client, agent, intent } = await approved()
    const answers = await Promise.all(Array.from({ length: 5 }, () => confirm(client, intent.id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect(await stateOf(client, agent.id, intent.id)).toMatchObject({ availableEuros: 60, clearing: 40 })
  })

  test('answers a repetition with the same key as before', async () => {
    const { client, intent } = await approved()
    const [first, second] = [
      await confirm(client, intent.id, 'order-1'),
      await confirm(client, intent.id, 'order-1'),
    ]
    expect([second.status, second.body]).toEqual([first.status, first.body])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
  })
})

describe('a checkout is refused to be confirmed', () => {
  test('without an Idempotency-Key, with the remedy in the message', async () => {
    const { client, key, agent, intent } = await approved()
    const answer = await service.http('POST', '/checkout/confirm', {
      token: key,
      body: { intentId: intent.id },
    })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('Idempotency-Key')])
    expect(await stateOf(client, agent.id, intent.id)).toMatchObject({ status: 'approved', heldEuros: 44 })
  })

  test('for an intent that waits, was cancelled, or is not there', async () => {
    const { client, agent, intent } = await approved()
    const waiting = await anIntent(client, agent.id, { amountEuros: 5_000, merchant: 'Bookshop' })
    await bodyOf(client.intents.cancel({ params: { id: intent.id }, body: {} }))
    const codes = await Promise.all(
      [waiting.id, intent.id, 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz'].map(
        async id => (await confirm(client, id)).code,
      ),
    )
    expect(codes).toEqual(['intent_not_approved', 'intent_not_approved', 'intent_not_found'])
  })

  test('to the token of another agent', async () => {
    const { intent } = await approved()
    const other = await approved()
    const { token } = await aToken(other.client, other.agent.id)
    const answer = await service.client(String(token)).checkout.confirm({
      body: { intentId: intent.id },
      idempotencyKey: 'foreign',
    })
    expect(answer.status).toBe(404)
  })
})

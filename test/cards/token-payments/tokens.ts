import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { aPayer, balanceOf, begun, client, failTokens, HOST, newsOf, tokensOf } from './service.ts'

type Payer = Awaited<ReturnType<typeof aPayer>>

describe('the token of a machine payment', () => {
  test('the token of a machine payment is listed with its limits, and its issue is an access event', async () => {
    const payer = await aPayer()
    const { mppCredentialId, tokenId } = await begun(payer)
    const [token] = await tokensOf(payer.card.id)
    expect(token).toMatchObject({
      status: 'active',
      mppCredentialId,
      intentId: payer.intent.id,
      merchantScope: [HOST],
      amountLimitEuros: 20,
      maxCharges: 1,
      charges: 0,
    })
    expect(JSON.stringify(token)).not.toContain(tokenId)
    const { data } = await bodyOf(client.accessEvents.list({ query: { way: 'mpp', cardId: payer.card.id } }))
    expect(data).toMatchObject([
      {
        id: token?.accessEventId,
        sourceId: mppCredentialId,
        decision: 'granted',
        outcome: 'disclosed',
        merchantHost: HOST,
        actor: { type: 'key' },
      },
    ])
  })

  test('is charged once by a receipt and the authorization after it', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    await payment.settle('paid')
    await payment.authorize()
    expect(await tokensOf(payer.card.id)).toMatchObject([{ spentEuros: 20, charges: 1 }])
  })

  test('the token of an unpaid payment is deleted at the processor, with retries', async () => {
    const payer = await aPayer()
    const { mppCredentialId, settle } = await begun(payer)
    const step = () => bodyOf(client.machinePayments.deleteToken({ params: { id: mppCredentialId } }))
    expect(await step()).toEqual({ done: true })
    await settle('not_paid')
    expect(await tokensOf(payer.card.id)).toMatchObject([
      { status: 'revoked', processorProblem: 'The processor has not been told yet.' },
    ])
    failTokens({ failure: 'late' })
    expect(await step()).toEqual({ done: false })
    failTokens(null)
    expect(await step()).toEqual({ done: true })
    expect(await tokensOf(payer.card.id)).toMatchObject([{ status: 'revoked', processorProblem: null }])
    expect(await step()).toEqual({ done: true })
  })

  test('that its owner revokes is declined by the network, and the intent is free', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    const [token] = await tokensOf(payer.card.id)
    await bodyOf(client.agentCredentials.revoke({ params: { id: String(token?.id) } }))
    expect((await payment.authorize()).reply.kind).toBe('declined')
    expect(await newsOf(payment.mppCredentialId)).toMatchObject([
      { event: 'agent_credential.declined', data: { status: 'revoked' } },
    ])
    expect((await begun(payer)).authorizationId).not.toBeNull()
  })

  test('speaks for the payment wherever the agent was frozen, or its card closed, in between', async () => {
    for (const change of [
      ({ agent }: Payer) => bodyOf(client.agents.freeze({ params: { id: agent.id } })),
      ({ card }: Payer) => bodyOf(client.cards.close({ params: { id: card.id } })),
    ]) {
      const payer = await aPayer()
      const payment = await begun(payer)
      await change(payer)
      expect((await payment.authorize()).reply.kind).toBe('declined')
      expect(await payment.payments()).toMatchObject([{ status: 'declined', heldEuros: 0 }])
      // The merchant has the money although the payment was declined: that is a fact.
      await payment.clear(null)
      expect(await payment.payments()).toMatchObject([{ status: 'cleared', clearedEuros: 20 }])
      expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    }
  })
})

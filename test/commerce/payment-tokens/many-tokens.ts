import { expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { paymentTokensIn } from '../../support/commerce/payment-tokens.ts'
import { aRequest, balanceOf } from '../../support/commerce/requests.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { notedWrites } from '../../support/money/noted-writes.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()
const { parties } = paymentTokensIn(service)

test('what tokens hold and what they have paid counts towards the limits', async () => {
  const { payer, make, charge } = await parties({
    rules: { autoApproveLimitEuros: 1_000, dailyLimitEuros: 10 },
  })
  const [one, two] = [await bodyOf(make()), await bodyOf(make())]
  expect(await make()).toMatchObject({ status: 400, code: 'against_policy' })
  await bodyOf(charge(one.token, 2))
  const third = await bodyOf(make({ amountEuros: 3 }))
  expect(await make({ amountEuros: 0.01 })).toMatchObject({ code: 'against_policy' })
  await bodyOf(payer.client.paymentTokens.revoke({ params: { id: two.id } }))
  expect(await make({ amountEuros: 5 })).toMatchObject({ status: 201 })
  expect(await charge(third.token, 3)).toMatchObject({ status: 200 })
})

test('charges of many tokens of one payer, by many owners, are all made', async () => {
  const { payer, agent, make } = await parties({})
  const others = await times(4, () => parties({}))
  const tokens = await Promise.all(
    others.flatMap(({ wallet, payee }) =>
      Array.from({ length: 5 }, async () => ({
        payee,
        token: (await bodyOf(make({ recipientWalletId: wallet.id, amountEuros: 2 }))).token,
      })),
    ),
  )
  const charge = ({ payee, token }: (typeof tokens)[number]) =>
    payee.client.paymentTokens.charge({
      params: { id: agent.id },
      body: { paymentToken: String(token), amountEuros: 1.5 },
    })
  expect(statusCounts(await Promise.all(tokens.map(charge)))).toEqual({ 200: 20 })
  expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_970, 0])
  for (const { payee, wallet } of others) {
    expect(await balanceOf(payee.client, wallet.id)).toEqual([7.5, 0])
    await expectVerifiedLedger(payee.client)
  }
  await expectVerifiedLedger(payer.client)
})

test('a payment and a charge are one transaction of both owners, and nothing else writes for two', async () => {
  const { payer, payee, agent, wallet, make, charge } = await parties({})
  const request = await aRequest(payee.client, wallet.id)
  const written = await notedWrites(service, async () => {
    const body = { agentId: agent.id, amountEuros: 25, purpose: 'Report 17', requestId: request.id }
    const { id: intentId } = await bodyOf(payer.client.intents.create({ body }))
    await bodyOf(payer.client.checkout.execute({ body: { intentId } }))
    const { token } = await bodyOf(make())
    await bodyOf(charge(token, 4, { idempotencyKey: 'noted' }))
    await bodyOf(payer.client.paymentTokens.revoke({ params: { id: (await bodyOf(make())).id } }))
  })
  expect(new Set(written.flat())).toEqual(new Set([payer.ownerId, payee.ownerId]))
  const both = [payer.ownerId, payee.ownerId].toSorted()
  expect(written.map(owners => owners.toSorted()).filter(owners => owners.length > 1)).toEqual([both, both])
  expect(await balanceOf(payee.client, wallet.id)).toEqual([29, 0])
})

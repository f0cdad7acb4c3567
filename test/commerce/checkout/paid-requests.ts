import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import { type Payee, paidRequestsIn } from '../../support/commerce/paid-requests.ts'
import { aRequest, balanceOf, getRequest, paymentsOn, sendEuros } from '../../support/commerce/requests.ts'
import { withoutArrivals } from '../../support/commerce/without-arrivals.ts'
import { anIntent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const { anApprovedPayee } = paidRequestsIn(service)

const execute = (client: TestClient, intentId: string, more: object = {}) =>
  client.checkout.execute({ body: { intentId }, ...more })

const intentOf = (client: TestClient, id: string) => bodyOf(client.intents.get({ params: { id } }))

const expectVerified = async ({ payer, holder }: Pick<Payee, 'payer' | 'holder'>): Promise<void> => {
  await expectVerifiedLedger(payer.client)
  await expectVerifiedLedger(holder.client)
}

describe.each([false, true])('an intent that pays a payment request (an own one: %s)', isOwn => {
  test('is paid once by twenty at once, and the request with it', async () => {
    const all = await anApprovedPayee({ isOwn })
    const { payer, holder, agent, wallet, request, intent } = all
    const answers = await times(20, () => execute(payer.client, intent.id))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)])
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'intent_not_approved']))
    const paid = answers.find(({ status }) => status === 200)?.body
    expect(await intentOf(payer.client, intent.id)).toMatchObject({
      status: 'completed',
      transactionId: paid?.transactionId,
      payment: { type: 'transfer', id: paid?.transferId, status: 'completed' },
    })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_975, 0])
    expect(await balanceOf(holder.client, wallet.id)).toEqual([25, 0])
    expect(await getRequest(holder.client, request.id)).toMatchObject({
      status: 'paid',
      paidBy: 'wallet',
      paidEuros: 25,
      surplusEuros: 0,
    })
    expect(await paymentsOn(holder.client, request.id)).toMatchObject([{ way: 'wallet', amountEuros: 25 }])
    await expectVerified(all)
  })

  test('is the only one of twenty for the same request that is paid at once', async () => {
    const all = await anApprovedPayee({ isOwn })
    const { payer, holder, agent, wallet, request, declare } = all
    const intents = await times(20, () => bodyOf(declare()))
    const answers = await Promise.all(intents.map(({ id }) => execute(payer.client, id)))
    expect(answers.map(({ code }) => code ?? 'paid').sort()).toEqual([
      'paid',
      ...Array(19).fill('request_not_open'),
    ])
    expect(await balanceOf(holder.client, wallet.id)).toEqual([25, 0])
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_475, 500])
    expect(await getRequest(holder.client, request.id)).toMatchObject({ status: 'paid', surplusEuros: 0 })
    await expectVerified(all)
  })

  test('replays the answer of its key, and pays nothing more', async () => {
    const { payer, holder, wallet, intent } = await anApprovedPayee({ isOwn })
    const pay = () => bodyOf(execute(payer.client, intent.id, { idempotencyKey: 'pay-request' }))
    const first = await pay()
    expect(await pay()).toEqual(first)
    expect(await balanceOf(holder.client, wallet.id)).toEqual([25, 0])
  })

  test('is not paid once the request has ended or is paid otherwise', async () => {
    const { payer, holder, agent, request, intent } = await anApprovedPayee({ isOwn })
    await sendEuros(holder.client, 5, request.reference)
    const partly = await execute(payer.client, intent.id)
    expect(partly).toMatchObject({ status: 400, code: 'request_other_amount' })
    await sendEuros(holder.client, 20, request.reference)
    const refused = await execute(payer.client, intent.id)
    expect(refused).toMatchObject({ status: 400, code: 'request_not_open' })
    expect(refused.error).toBe('requestId: the request is paid, and cannot be paid.')
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_975, 25])
    await bodyOf(payer.client.intents.cancel({ params: { id: intent.id }, body: {} }))
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([10_000, 0])
  })
})

describe('a payment request of another owner', () => {
  test('is paid by two transactions, one on each side, without the ids of the other side', async () => {
    const { payer, holder, wallet, request, intent, agent } = await anApprovedPayee()
    const answer = await execute(payer.client, intent.id)
    const { transactionId, transferId } = answer.body
    const transaction = await bodyOf(payer.client.transactions.get({ params: { id: transactionId } }))
    expect(transaction).toMatchObject({ type: 'transfer', status: 'completed', amountEuros: 25, transferId })
    const transfer = await bodyOf(payer.client.transfers.get({ params: { id: transferId } }))
    expect(transfer).toMatchObject({ kind: 'internal', toWalletId: null, intentId: intent.id })
    const theirs = await bodyOf(holder.client.transactions.list({ query: { walletId: wallet.id } }))
    expect(theirs.data).toMatchObject([{ type: 'collect', status: 'completed', amountEuros: 25 }])
    const ofPayer = JSON.stringify([
      transaction,
      transfer,
      await bodyOf(payer.client.events.list({ query: { limit: 100 } })),
    ])
    for (const foreign of [holder.ownerId, wallet.id, 'Secret plans', theirs.data[0]?.id])
      expect(ofPayer).not.toContain(foreign)
    const ofHolder = JSON.stringify([
      theirs,
      await getRequest(holder.client, request.id),
      await paymentsOn(holder.client, request.id),
      await bodyOf(holder.client.events.list({ query: { limit: 100 } })),
    ])
    const ofRequest = [intent.id, transactionId, transferId, String(answer.headers.get('x-request-id'))]
    for (const foreign of [payer.ownerId, agent.id, agent.walletId, ...ofRequest])
      expect(ofHolder).not.toContain(foreign)
  })

  test('cannot be paid once it is overdue by the clock of its holder', async () => {
    const { payer, holder, declare, intent } = await anApprovedPayee({ members: { expiresInHours: 1 } })
    await bodyOf(holder.client.sandbox.advance({ body: { minutes: 61 } }))
    expect(await declare()).toMatchObject({ code: 'request_not_open' })
    expect(await execute(payer.client, intent.id)).toMatchObject({ code: 'request_not_open' })
  })

  test('is not paid under a name that its holder no longer has', async () => {
    const { payer, holder, intent } = await anApprovedPayee()
    await bodyOf(holder.client.customers.updateMe({ body: { name: 'Quite another GmbH' } }))
    expect(await execute(payer.client, intent.id)).toMatchObject({
      status: 400,
      code: 'intent_payee_changed',
    })
  })

  test.each<[string, (all: Payee) => Promise<unknown>, string]>([
    [
      'a frozen agent',
      ({ payer, agent }) => bodyOf(payer.client.agents.freeze({ params: { id: agent.id }, body: {} })),
      'agent_not_active',
    ],
    [
      'a frozen wallet',
      ({ payer, agent }) =>
        bodyOf(payer.client.wallets.update({ params: { id: agent.walletId }, body: { status: 'frozen' } })),
      'wallet_frozen',
    ],
  ])('is not paid by %s', async (_, stop, code) => {
    const all = await anApprovedPayee()
    await stop(all)
    expect(await execute(all.payer.client, all.intent.id)).toMatchObject({ status: 400, code })
    expect(await getRequest(all.holder.client, all.request.id)).toMatchObject({
      status: 'open',
      paidEuros: 0,
    })
  })

  test('is paid by an agent with its own token, and by no other one', async () => {
    const { payer, agent, intent } = await anApprovedPayee()
    const colleague = await aSpender(payer.client)
    const other = await anAgentClient(service, payer.client, colleague.id)
    expect(await execute(other, intent.id)).toMatchObject({ status: 404, code: 'intent_not_found' })
    const own = await anAgentClient(service, payer.client, agent.id)
    expect(await execute(own, intent.id)).toMatchObject({ status: 200 })
  })

  test('is not paid where the other ledger cannot be written, and once it can', async () => {
    const all = await anApprovedPayee()
    const { payer, holder, agent, wallet, request, intent } = all
    await withoutArrivals(service, holder.ownerId, async () =>
      expect((await execute(payer.client, intent.id)).status).toBe(500),
    )
    expect(await intentOf(payer.client, intent.id)).toMatchObject({ status: 'approved' })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_975, 25])
    await bodyOf(execute(payer.client, intent.id))
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_975, 0])
    expect(await balanceOf(holder.client, wallet.id)).toEqual([25, 0])
    expect(await getRequest(holder.client, request.id)).toMatchObject({ status: 'paid', paidEuros: 25 })
    await expectVerified(all)
  })
})

test('many requests and wallets are paid in one batch', async () => {
  const payer = await service.owner()
  const holders = [await service.owner(), await service.owner(), payer]
  const agent = await aSpender(payer.client)
  const intents: string[] = []
  const wallets: [TestClient, string][] = []
  for (const { client } of holders) {
    const wallet = await aWallet(client)
    wallets.push([client, wallet.id])
    for (let n = 0; n < 3; n++) {
      const { id: requestId } = await aRequest(client, wallet.id)
      const intent = await anIntent(payer.client, agent.id, { requestId })
      intents.push(intent.id)
    }
  }
  const shop = await aWallet(payer.client, 0, { name: 'Bookshop' })
  for (let n = 0; n < 3; n++) intents.push((await anIntent(payer.client, agent.id, { walletId: shop.id })).id)
  const answers = await Promise.all(intents.map(id => execute(payer.client, id)))
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
  for (const [client, id] of [...wallets, [payer.client, shop.id] as const])
    expect(await balanceOf(client, id)).toEqual([75, 0])
  expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_700, 0])
  for (const { client } of holders) await expectVerifiedLedger(client)
})

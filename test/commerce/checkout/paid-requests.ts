import { describe, expect, test } from '@jest/globals'
import { endOverdue } from '../../../src/kernel/background/deadlines.ts'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import { aRequest, balanceOf, getRequest, paymentsOn, sendEuros } from '../../support/commerce/requests.ts'
import { withoutArrivals } from '../../support/commerce/without-arrivals.ts'
import { anIntent, aRun, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { times } from '../../support/sample-service.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const service = await startTestService()
const worker = await openWorkerRuntime(service)

const execute = (client: TestClient, intentId: string, more: object = {}) =>
  client.checkout.execute({ body: { intentId }, ...more })

const intentOf = (client: TestClient, id: string) => bodyOf(client.intents.get({ params: { id } }))

/** A payer with an agent, and another owner with a request for € 25; both are one where `isOwn`. */
async function aPayee({ isOwn = false, members = {} }: { isOwn?: boolean; members?: object } = {}) {
  const payer = await service.owner()
  const holder = isOwn ? payer : await service.owner()
  const agent = await aSpender(payer.client)
  const wallet = await aWallet(holder.client, 0, { name: 'Secret plans' })
  const request = await aRequest(holder.client, wallet.id, members)
  const { name } = await bodyOf(holder.client.customers.me())
  const declare = (more: object = {}) =>
    payer.client.intents.create({
      body: { agentId: agent.id, amountEuros: 25, purpose: 'Report 17', requestId: request.id, ...more },
    })
  return { payer, holder, agent, wallet, request, name, declare }
}

type Payee = Awaited<ReturnType<typeof aPayee>>

async function anApprovedPayee(options: Parameters<typeof aPayee>[0] = {}) {
  const payee = await aPayee(options)
  return { ...payee, intent: await bodyOf(payee.declare()) }
}

const expectVerified = async ({ payer, holder }: Pick<Payee, 'payer' | 'holder'>): Promise<void> => {
  await expectVerifiedLedger(payer.client)
  await expectVerifiedLedger(holder.client)
}

/** The sweep, a minute later. */
async function sweep(): Promise<void> {
  await service.sql('update incoming_credits set due_at = now() where due_at is not null')
  await endOverdue(worker)
}

describe.each([false, true])(
  'an intent that names a payment request as its payee (an own one: %s)',
  isOwn => {
    test('has the public name of its holder as the merchant, and nothing of the wallet', async () => {
      const { declare, name, request, agent, payer } = await aPayee({ isOwn })
      const intent = await bodyOf(declare())
      expect(intent).toMatchObject({
        status: 'approved',
        merchant: name,
        requestId: request.id,
        walletId: null,
        beneficiaryId: null,
        paymentTokenId: null,
        amountEuros: 25,
      })
      expect(JSON.stringify(intent)).not.toContain('Secret plans')
      expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_975, 25])
      expect(await bodyOf(declare({ merchant: ` ${name.toUpperCase()} ` }))).toMatchObject({ merchant: name })
      expect(await declare({ merchant: 'Bookshop' })).toMatchObject({ status: 400, code: 'payee_mismatch' })
    })

    test('is judged by that name in lists, duplicates and simulations', async () => {
      const { declare, name, request, agent, payer } = await aPayee({ isOwn })
      const { id: runId } = await aRun(payer.client, agent.id)
      const first = await bodyOf(declare({ runId }))
      expect(await bodyOf(declare({ runId }))).toMatchObject({
        status: 'created',
        possibleDuplicateOf: first.id,
      })
      const simulate = (policy: object, more: object = {}) =>
        payer.client.intents.simulate({
          body: { policy: { name: 'P', ...policy }, amountEuros: 25, requestId: request.id, ...more },
        })
      expect(await bodyOf(simulate({ merchantBlocklist: [name] }))).toMatchObject({ allowed: false })
      expect(await bodyOf(simulate({ merchantAllowlist: [name] }))).toMatchObject({ allowed: true })
      expect(await simulate({}, { amountEuros: 5 })).toMatchObject({ code: 'request_other_amount' })
      expect(await simulate({}, { requestId: 'request_1' })).toMatchObject({ code: 'request_not_found' })
      const byAgent = { agentId: agent.id, amountEuros: 25, requestId: request.id }
      expect(await bodyOf(payer.client.intents.simulate({ body: byAgent }))).toMatchObject({ allowed: true })
    })

    test('is for exactly what is missing, and for an open request', async () => {
      const { declare, request, holder } = await aPayee({ isOwn })
      const other = await declare({ amountEuros: 20 })
      expect(other).toMatchObject({ status: 400, code: 'request_other_amount' })
      expect(other.error).toBe('amountEuros: € 25.00 are missing for the request, not € 20.00.')
      await sendEuros(holder.client, 10, request.reference)
      expect(await declare()).toMatchObject({ code: 'request_other_amount' })
      expect(await bodyOf(declare({ amountEuros: 15 }))).toMatchObject({ status: 'approved' })
      await bodyOf(holder.client.collect.cancel({ params: { id: request.id }, body: {} }))
      const ended = await declare({ amountEuros: 15 })
      expect(ended).toMatchObject({ status: 400, code: 'request_not_open' })
      expect(ended.error).toBe('requestId: the request is cancelled, and cannot be paid.')
    })

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
  },
)

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

  test('counts towards the limits of the payer', async () => {
    const { client } = await service.owner()
    const holder = await service.owner()
    const policy = await bodyOf(
      client.policies.create({ body: { name: 'P', autoApproveLimitEuros: 1_000, dailyLimitEuros: 40 } }),
    )
    const agent = await bodyOf(client.agents.create({ body: { name: 'Reader', policyId: policy.id } }))
    await bodyOf(client.fund.wallet({ params: { id: agent.walletId }, body: { amountEuros: 100 } }))
    const wallet = await aWallet(holder.client)
    const declareFor = async () => {
      const { id: requestId } = await aRequest(holder.client, wallet.id)
      const body = { agentId: agent.id, amountEuros: 25, purpose: 'Report', requestId }
      return bodyOf(client.intents.create({ body }))
    }
    const first = await declareFor()
    await bodyOf(execute(client, first.id))
    expect(await declareFor()).toMatchObject({ status: 'denied' })
  })

  test('in another mode, or of nobody, does not exist', async () => {
    const { payer, agent, holder } = await aPayee()
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [holder.ownerId])
    const { key } = await bodyOf(holder.client.keys.create({ body: { name: 'Live', environment: 'live' } }))
    const live = service.client(String(key))
    const request = await aRequest(live, (await aWallet(live)).id)
    for (const requestId of [request.id, 'request_01jd8x2m4ye7k9v0c3q5r6t8wz']) {
      const body = { agentId: agent.id, amountEuros: 25, purpose: 'Report', requestId }
      const answer = await payer.client.intents.create({ body })
      expect(answer).toMatchObject({ status: 404, code: 'request_not_found' })
      expect(answer.error).toBe('requestId: no such payment request.')
    }
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

  test('is booked once by the sweep where the other ledger could not be reached', async () => {
    const all = await anApprovedPayee()
    const { payer, holder, agent, wallet, request, intent } = all
    await withoutArrivals(service, holder.ownerId, async () => {
      expect(await execute(payer.client, intent.id)).toMatchObject({ status: 200 })
      expect(await intentOf(payer.client, intent.id)).toMatchObject({ status: 'completed' })
      expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_975, 0])
      expect(await balanceOf(holder.client, wallet.id)).toEqual([0, 0])
      await expectVerified(all)
      await expect(sweep()).rejects.toThrow()
    })
    await times(4, sweep)
    expect(await balanceOf(holder.client, wallet.id)).toEqual([25, 0])
    expect(await getRequest(holder.client, request.id)).toMatchObject({ status: 'paid', paidEuros: 25 })
    await expectVerified(all)
  })

  test('stays as a surplus with its holder where it arrives too late', async () => {
    const all = await anApprovedPayee()
    const { payer, holder, wallet, request, intent } = all
    await withoutArrivals(service, holder.ownerId, async () => {
      await bodyOf(execute(payer.client, intent.id))
    })
    await sendEuros(holder.client, 25, request.reference)
    await sweep()
    expect(await balanceOf(holder.client, wallet.id)).toEqual([50, 0])
    expect(await getRequest(holder.client, request.id)).toMatchObject({
      status: 'paid',
      paidBy: 'sepa',
      surplusEuros: 25,
    })
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

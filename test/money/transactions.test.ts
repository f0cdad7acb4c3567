import { describe, expect, test } from '@jest/globals'
import { anAgent, aToken, aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService()

/** The sandbox's bank answers the first amount at once, and the second only on request. */
const AT_ONCE = 12.5
const STAYS = 777.06

async function aPayment(client: TestClient, amountEuros = AT_ONCE) {
  const wallet = await aWallet(client, 1_000)
  const body = { name: 'Müller GmbH', iban: 'DE89370400440532013000' }
  const beneficiary = await bodyOf(client.beneficiaries.create({ body }))
  const { id } = await bodyOf(
    client.transfers.create({
      body: { fromWalletId: wallet.id, beneficiaryId: beneficiary.id, amountEuros },
    }),
  )
  await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
  const transfer = await bodyOf(client.transfers.get({ params: { id } }))
  return { wallet, transfer, params: { id: String(transfer.transactionId) } }
}

const eventsOf = async (id: string): Promise<string[]> =>
  (
    await service.sql<{ event: string }>(
      `select event from events where data ->> 'transactionId' = $1 order by id`,
      [id],
    )
  ).map(({ event }) => event.replace('transaction.', ''))

describe('a transfer by SEPA', () => {
  test('becomes a completed transaction when paid, with an event for each status', async () => {
    const { client } = await service.owner()
    const { wallet, transfer, params } = await aPayment(client)
    expect(transfer.status).toBe('completed')
    expect(await bodyOf(client.transactions.get({ params }))).toMatchObject({
      type: 'transfer',
      status: 'completed',
      transferId: transfer.id,
      walletId: wallet.id,
      agentId: null,
      amountEuros: AT_ONCE,
      refundedEuros: 0,
      merchant: 'Müller GmbH',
      country: 'DE',
    })
    expect(await eventsOf(params.id)).toEqual([
      'created',
      'authorization',
      'settlement',
      'settled',
      'completed',
    ])
  })

  test('becomes a declined transaction when rejected, with the reason', async () => {
    const { client } = await service.owner()
    const { transfer, params } = await aPayment(client, STAYS)
    expect((await bodyOf(client.transactions.get({ params }))).status).toBe('settlement')
    const body = { transferId: transfer.id, reasonCode: 'AC04' }
    await bodyOf(client.transfers.simulateReject({ body }))
    const { status, declineReason } = await bodyOf(client.transactions.get({ params }))
    expect([status, declineReason]).toEqual(['declined', expect.stringContaining('closed')])
    expect((await eventsOf(params.id)).at(-1)).toBe('declined')
  })

  test('becomes a refunded transaction when returned', async () => {
    const { client } = await service.owner()
    const { transfer, params } = await aPayment(client)
    await bodyOf(client.transfers.simulateReturn({ body: { transferId: transfer.id, reasonCode: 'AC04' } }))
    expect(await bodyOf(client.transactions.get({ params }))).toMatchObject({
      status: 'refunded',
      refundedEuros: AT_ONCE,
    })
    expect((await eventsOf(params.id)).slice(-2)).toEqual(['refunded', 'refund.completed'])
  })

  test('has no transaction if it was never submitted', async () => {
    const { client } = await service.owner()
    const wallet = await aWallet(client, 10)
    const body = { name: 'Müller GmbH', iban: 'DE89370400440532013000' }
    const { id: beneficiaryId } = await bodyOf(client.beneficiaries.create({ body }))
    const { id } = await bodyOf(
      client.transfers.create({ body: { fromWalletId: wallet.id, beneficiaryId, amountEuros: 1 } }),
    )
    await bodyOf(client.transfers.cancel({ params: { id } }))
    expect((await bodyOf(client.transactions.list({}))).data).toEqual([])
  })
})

describe('a transaction', () => {
  test('is found by each of its filters', async () => {
    const { client } = await service.owner()
    const { wallet, transfer, params } = await aPayment(client)
    await aPayment(client)
    const idsOf = async (query: object) =>
      (await bodyOf(client.transactions.list({ query }))).data.map(({ id }) => id)
    expect(await idsOf({ transferId: transfer.id })).toEqual([params.id])
    expect(await idsOf({ walletId: wallet.id, status: 'completed', type: 'transfer' })).toEqual([params.id])
    expect(await idsOf({ merchant: 'Müller GmbH' })).toHaveLength(2)
    expect(await idsOf({ agentId: 'agent_nobody' })).toEqual([])
    expect(await idsOf({ to: transfer.createdAt })).toEqual([])
  })

  test('is found by a part of the merchant’s name and by its amount, of which the symbols stand for themselves', async () => {
    const { client } = await service.owner()
    const first = await aPayment(client, 12.5)
    const second = await aPayment(client, 40)
    const idsOf = async (query: object) =>
      (await bodyOf(client.transactions.list({ query }))).data.map(({ id }) => id)
    expect(await idsOf({ merchantContains: ' LLER gm' })).toEqual([second.params.id, first.params.id])
    expect(await idsOf({ merchantContains: 'mÜLLER' })).toEqual([second.params.id, first.params.id])
    expect(await idsOf({ merchantContains: 'M_ller' })).toEqual([])
    expect(await idsOf({ merchantContains: '%' })).toEqual([])
    expect(await idsOf({ minAmountEuros: '12.50', maxAmountEuros: '12.5' })).toEqual([first.params.id])
    expect(await idsOf({ minAmountEuros: 12.51 })).toEqual([second.params.id])
    expect(await idsOf({ maxAmountEuros: 12.49, merchantContains: 'gmbh' })).toEqual([])
    expect(await idsOf({ merchantContains: 'gmbh', to: first.transfer.createdAt })).toEqual([])
    const page = { minAmountEuros: 12.5, limit: 1 }
    const { nextCursor } = await bodyOf(client.transactions.list({ query: page }))
    expect(await idsOf({ ...page, cursor: nextCursor })).toEqual([first.params.id])
    const { status, body } = await client.transactions.list({ query: { minAmountEuros: '1.005' as never } })
    expect([status, body]).toMatchObject([400, { error: expect.stringContaining('minAmountEuros: ') }])
  })

  test('is counted and totalled with the others that match, by status', async () => {
    const { client } = await service.owner()
    const { transfer } = await aPayment(client)
    await aPayment(client)
    await aPayment(client, STAYS)
    await bodyOf(client.transfers.simulateReturn({ body: { transferId: transfer.id, reasonCode: 'AC04' } }))
    expect(await bodyOf(client.transactions.summary({}))).toEqual({
      count: 3,
      amountEuros: 2 * AT_ONCE + STAYS,
      refundedEuros: AT_ONCE,
      hasMore: false,
      data: [
        { status: 'completed', count: 1, amountEuros: AT_ONCE, refundedEuros: 0 },
        { status: 'refunded', count: 1, amountEuros: AT_ONCE, refundedEuros: AT_ONCE },
        { status: 'settlement', count: 1, amountEuros: STAYS, refundedEuros: 0 },
      ],
    })
    const query = { minAmountEuros: 100, status: 'settlement' } as const
    expect(await bodyOf(client.transactions.summary({ query }))).toMatchObject({
      count: 1,
      amountEuros: STAYS,
    })
    const other = await service.owner()
    expect(await bodyOf(other.client.transactions.summary({}))).toMatchObject({ count: 0, data: [] })
    const token = String((await aToken(client, (await anAgent(client)).id)).token)
    expect(await bodyOf(service.client(token).transactions.summary({}))).toMatchObject({ count: 0 })
  })

  test('has a memo, which can be removed', async () => {
    const { client } = await service.owner()
    const { params } = await aPayment(client)
    const noted = await bodyOf(client.transactions.update({ params, body: { memo: ' Invoice 4711 ' } }))
    expect(noted.memo).toBe('Invoice 4711')
    expect((await bodyOf(client.transactions.update({ params, body: { memo: null } }))).memo).toBeNull()
    expect((await eventsOf(params.id)).filter(event => event === 'updated')).toHaveLength(2)
  })

  test('of the owner is not visible to an agent', async () => {
    const { client } = await service.owner()
    const { params } = await aPayment(client)
    const tokenClient = service.client(String((await aToken(client, (await anAgent(client)).id)).token))
    expect((await tokenClient.transactions.get({ params })).status).toBe(404)
    expect((await bodyOf(tokenClient.transactions.list({}))).data).toEqual([])
  })
})

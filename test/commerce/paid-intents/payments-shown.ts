import { describe, expect, test } from '@jest/globals'
import {
  aBeneficiary,
  aDelegation,
  anAgentUnder,
  anIntent,
  aRun,
  aSepaTransfer,
  aToken,
  bodyOf,
  redeemDelegation,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })

async function someone(name = 'Bäckerei Müller') {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 2_000 })
  const { token } = await aToken(client, agent.id, {
    scopes: ['transfers:create', 'transfers:read', 'intents:read'],
  })
  const tokenClient = service.client(String(token))
  const { id: beneficiaryId } = await aBeneficiary(client, { name })
  const pay = async (amountEuros = 20, members: { runId?: string } = {}, by = client) => {
    const { id: intentId } = await anIntent(by, agent.id, { amountEuros, beneficiaryId, ...members })
    const body = { fromWalletId: agent.walletId, beneficiaryId, intentId, amountEuros }
    return { intentId, transfer: await bodyOf(tokenClient.transfers.create({ body })) }
  }
  const params = (id: string) => ({ params: { id } })
  return {
    client,
    agent,
    tokenClient,
    pay,
    pass: () => bodyOf(client.sandbox.advance({ body: { minutes: 2 } })),
    intent: (id: string) => bodyOf(client.intents.get(params(id))),
    explained: async (id: string) => (await bodyOf(client.intents.explanation(params(id)))).summary,
    timeline: async (id: string) => (await bodyOf(tokenClient.intents.timeline(params(id)))).data,
  }
}

describe('an intent shows its payment', () => {
  test('as rejected with the reason, though the intent stays completed', async () => {
    const { client, pay, pass, intent, explained, timeline } = await someone()
    const { intentId, transfer } = await pay(666.01)
    expect((await intent(intentId)).payment).toMatchObject({
      type: 'transfer',
      id: transfer.id,
      status: 'created',
      amountEuros: 666.01,
    })
    await pass()
    const paid = await intent(intentId)
    expect(paid).toMatchObject({
      status: 'completed',
      payment: { status: 'rejected', reason: { code: 'AC04' } },
    })
    expect((await bodyOf(client.intents.list())).data).toEqual([paid])
    const why = paid.payment?.reason?.message
    expect(await explained(intentId)).toContain(
      `The payment was rejected, and the money was returned. ${why}`,
    )
    const entries = (await timeline(intentId)).map(({ event, reason }) => [event, reason])
    expect(entries).toContainEqual(['transaction.declined', null])
    expect(entries.at(-1)).toEqual(['transfer.failed', why])
    const { data } = await bodyOf(client.transactions.list({ query: { intentId } }))
    expect(data).toMatchObject([{ status: 'declined', declineReason: why }])
  })

  test('as returned', async () => {
    const { client, pay, pass, intent, explained } = await someone()
    const { intentId, transfer } = await pay()
    await pass()
    expect((await intent(intentId)).payment).toMatchObject({ status: 'completed', reason: null })
    await bodyOf(client.transfers.recall({ params: { id: transfer.id }, body: { reason: 'Twice' } }))
    await pass()
    expect(await intent(intentId)).toMatchObject({ status: 'completed', payment: { status: 'returned' } })
    expect(await explained(intentId)).toContain('The payment was returned.')
  })

  test('as waiting for a confirmation of the payee, with what to do', async () => {
    const { client, pay, pass, intent, explained, timeline } = await someone('No Match GmbH')
    const { intentId, transfer } = await pay()
    await pass()
    const waiting = await intent(intentId)
    expect(waiting).toMatchObject({
      status: 'approved',
      payment: { status: 'verifying', reason: { code: 'no_match' } },
    })
    expect(waiting.payment?.reason?.message).toContain(`POST /transfers/${transfer.id}/confirm-payee`)
    expect(await explained(intentId)).toContain('The payment is pending and waits.')
    await bodyOf(client.transfers.cancel({ params: { id: transfer.id }, body: { comment: 'Wrong one' } }))
    expect((await intent(intentId)).payment).toMatchObject({
      status: 'cancelled',
      reason: { code: 'cancelled', message: 'Wrong one' },
    })
    expect((await timeline(intentId)).at(-1)).toMatchObject({
      event: 'transfer.failed',
      resourceId: transfer.id,
    })
    const ended = await bodyOf(client.intents.cancel({ params: { id: intentId } }))
    expect(ended.payment).toMatchObject({ id: transfer.id, status: 'cancelled' })
  })

  test('as null if there is no payment', async () => {
    const { client, agent } = await someone()
    const intent = await anIntent(client, agent.id)
    expect(intent.payment).toBe(null)
    const big = await anIntent(client, agent.id, { amountEuros: 3_000 })
    expect((await bodyOf(client.intents.approve({ params: { id: big.id } }))).payment).toBe(null)
    const denied = await anIntent(client, agent.id, { amountEuros: 2_500 })
    const params = { id: denied.id }
    expect((await bodyOf(client.intents.deny({ params, body: { reason: 'No' } }))).payment).toBe(null)
  })
})

test('a timeline is read page by page, as every list is', async () => {
  const { pay, pass, tokenClient } = await someone()
  const { intentId } = await pay()
  await pass()
  const params = { id: intentId }
  const fullTimeline = await bodyOf(tokenClient.intents.timeline({ params, query: { limit: 100 } }))
  expect([fullTimeline.hasMore, fullTimeline.data.length > 4]).toEqual([false, true])
  const first = await bodyOf(tokenClient.intents.timeline({ params, query: { limit: 3 } }))
  expect(first.hasMore).toBe(true)
  const query = { limit: 100, cursor: String(first.nextCursor) }
  const rest = await bodyOf(tokenClient.intents.timeline({ params, query }))
  expect([...first.data, ...rest.data]).toEqual(fullTimeline.data)
})

describe('an agent sees', () => {
  test('the transfers that it has made, and no others', async () => {
    const { client, agent, tokenClient, pay } = await someone()
    const { intentId, transfer } = await pay()
    const other = await aSepaTransfer(client)
    expect(await bodyOf(tokenClient.transfers.get({ params: { id: transfer.id } }))).toMatchObject({
      id: transfer.id,
      agentId: agent.id,
      intentId,
    })
    expect((await tokenClient.transfers.get({ params: { id: other.id } })).code).toBe('transfer_not_found')
    expect((await bodyOf(tokenClient.transfers.list())).data.map(({ id }) => id)).toEqual([transfer.id])
    expect((await tokenClient.transfers.pain001({ params: { id: transfer.id } })).code).toBe('wrong_caller')
    expect((await tokenClient.transfers.cancel({ params: { id: transfer.id } })).code).toBe('wrong_caller')
  })

  test('only what is paid under a delegation, with the token of that delegation', async () => {
    const { client, agent, pay } = await someone()
    const delegation = await aDelegation(client, agent.id, { maxAmountEuros: 100 })
    const token = String((await redeemDelegation(client, delegation)).token)
    const delegate = service.client(token)
    const [own, other] = [await pay(7, {}, delegate), await pay(8)]
    expect((await bodyOf(delegate.transfers.list())).data.map(({ id }) => id)).toEqual([own.transfer.id])
    expect((await delegate.transfers.get({ params: { id: own.transfer.id } })).status).toBe(200)
    const hidden = await delegate.transfers.get({ params: { id: other.transfer.id } })
    expect(hidden.code).toBe('transfer_not_found')
  })
})

test('transfers are found by agent and intent, transactions by run', async () => {
  const { client, agent, pay, pass } = await someone()
  const { id: runId } = await aRun(client, agent.id)
  const [first, second] = [await pay(5, { runId }), await pay(6)]
  await aSepaTransfer(client)
  await pass()
  const idsOf = async (query: object) =>
    (await bodyOf(client.transfers.list({ query }))).data.map(({ id }) => id)
  expect(await idsOf({ agentId: agent.id })).toEqual([second.transfer.id, first.transfer.id])
  expect(await idsOf({ intentId: first.intentId })).toEqual([first.transfer.id])
  expect(await idsOf({ intentId: second.intentId, agentId: agent.id })).toEqual([second.transfer.id])
  const paid = await bodyOf(client.transactions.list({ query: { runId } }))
  expect(paid.data.map(({ transferId }) => transferId)).toEqual([first.transfer.id])
})

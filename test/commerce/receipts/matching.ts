import { describe, expect, test } from '@jest/globals'
import { anAgentUnder, bodyOf } from '../../support/factories.ts'
import { advance } from '../../support/sandbox.ts'
import { aBill, aPayer, aPayment, dated, sent, service } from './service.ts'

describe('a PDF without a payment', () => {
  test('finds its payment by amount, merchant and date', async () => {
    const { client, agentClient, agent, transactionId, intentId } = await aPayer()
    await aPayment(client, agent.id, 26)
    await aPayment(client, agent.id, 25, 'Fish and Chips')
    expect(await sent(agentClient, await aBill('25.00'))).toMatchObject({
      transactionId,
      intentId,
      status: 'matched',
      matchedBy: 'text',
      score: 100,
      reasons: ['amount_equal', 'merchant_named', 'date_same_day'],
      suggestions: [],
      facts: { total: '25.00', currency: 'EUR', merchant: 'Bookshop', vatNumber: 'DE123456789' },
    })
  })

  test('is known by the VAT number of earlier receipts where it does not name its merchant', async () => {
    const { client, agent, agentClient, transactionId } = await aPayer()
    await sent(agentClient, await aBill('25.00'))
    const second = await aPayment(client, agent.id, 31)
    expect(await sent(agentClient, await aBill('31.00', { merchant: 'Quux' }))).toMatchObject({
      ...{ status: 'matched', transactionId: second.transactionId, score: 100 },
      reasons: ['amount_equal', 'vat_number_known', 'date_same_day'],
    })
    expect(second.transactionId).not.toBe(transactionId)
  })

  test('a VAT number on receipts of several merchants identifies none: it is the buyer’s', async () => {
    const { client, agent, agentClient } = await aPayer()
    await sent(agentClient, await aBill('25.00'))
    await aPayment(client, agent.id, 26, 'Fish and Chips')
    expect(await sent(agentClient, await aBill('26.00', { merchant: 'Fish and Chips' }))).toMatchObject({
      status: 'matched',
    })
    await aPayment(client, agent.id, 31)
    const { status, suggestions } = await sent(agentClient, await aBill('31.00', { merchant: 'Quux' }))
    expect([status, suggestions[0]?.reasons]).toEqual(['suggested', ['amount_equal', 'date_same_day']])
  })

  test('of two payments that fit alike suggests both', async () => {
    const { client, agent, transactionId } = await aPayer()
    const second = await aPayment(client, agent.id)
    const receipt = await sent(client, await aBill('25.00'))
    expect(receipt).toMatchObject({ status: 'suggested', transactionId: null, score: null })
    expect(receipt.suggestions.map(suggestion => suggestion.transactionId)).toEqual([
      second.transactionId,
      transactionId,
    ])
    expect(receipt.suggestions.map(({ score }) => score)).toEqual([100, 100])
  })

  test('takes the one without a receipt where the other has one', async () => {
    const { client, agent, transactionId } = await aPayer()
    const second = await aPayment(client, agent.id)
    await sent(client, await aBill('25.00'), { transactionId })
    expect(await sent(client, await aBill('25.00', { date: dated(0) }))).toMatchObject({
      status: 'matched',
      transactionId: second.transactionId,
    })
  })

  test.each<[string, string, { merchant?: string; date?: string }, object]>([
    ['the merchant missing', '25.00', { merchant: 'Quux' }, { status: 'suggested', score: 70 }],
    ['a date three weeks ago', '25.00', { date: dated(-21) }, { status: 'matched', score: 85 }],
    ['another amount', '24.99', {}, { status: 'suggested', score: 50 }],
  ])('with %s is %#', async (_, total, told, { status, score }: { status?: string; score?: number }) => {
    const { client, transactionId } = await aPayer()
    const receipt = await sent(client, await aBill(total, told))
    const [suggestion] = receipt.suggestions
    expect([receipt.status, receipt.score ?? suggestion?.score]).toEqual([status, score])
    expect(receipt.transactionId ?? suggestion?.transactionId).toBe(transactionId)
  })

  test('belongs to no payment of another month, of another agent or of another owner', async () => {
    const { client, agent, agentClient } = await aPayer()
    const other = await aPayer()
    expect(await sent(other.agentClient, await aBill('77.00', { merchant: 'Quux' }))).toMatchObject({
      status: 'unmatched',
    })
    await advance(client, { days: 40 })
    expect(await sent(client, await aBill('25.00', { date: dated(40) }))).toMatchObject({
      status: 'unmatched',
    })
    const colleague = await aPayment(client, (await aPayer()).agent.id).catch(() => undefined)
    expect(colleague).toBeUndefined()
    await aPayment(client, agent.id, 31)
    expect(await sent(agentClient, await aBill('31.00', { date: dated(40) }))).toMatchObject({
      status: 'matched',
    })
  })

  test('a receipt is matched automatically with a later payment', async () => {
    const { client, agent, agentClient, ownerId } = await aPayer()
    const { id } = await sent(agentClient, await aBill('38.00', { merchant: 'Bakery' }))
    const read = () => bodyOf(client.receipts.get({ params: { id } }))
    await advance(client, { minutes: 9 })
    const colleague = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
    await aPayment(client, colleague.id, 38, 'Bakery')
    const { transactionId, intentId } = await aPayment(client, agent.id, 38, 'Bakery')
    expect(await read()).toMatchObject({ transactionId: null })
    await advance(client, { minutes: 2 })
    expect(await read()).toMatchObject({ status: 'matched', matchedBy: 'text', transactionId, score: 100 })
    expect((await bodyOf(client.intents.get({ params: { id: intentId } }))).receiptStatus).toBe('matched')
    const { data } = await bodyOf(client.events.list({ query: { limit: 100, event: 'receipt.updated' } }))
    expect(data.map(({ data: told }) => [told.receiptId, told.status])).toEqual([
      [id, 'matched'],
      [id, 'unmatched'],
    ])
    // A manual removal is final: the receipt is not matched again.
    await bodyOf(client.receipts.update({ params: { id }, body: { transactionId: null } }))
    await advance(client, { days: 31 })
    expect(await read()).toMatchObject({ status: 'unmatched', transactionId: null })
    expect(
      await service.sql('select from receipts where owner_id = $1 and look_at is not null', [ownerId]),
    ).toEqual([])
  })

  test('is looked for no longer than a month, and suggestions follow what was paid', async () => {
    const { client, agent, ownerId } = await aPayer()
    const { id } = await sent(client, await aBill('38.00', { merchant: 'Quux' }))
    const { transactionId } = await aPayment(client, agent.id, 38, 'Bakery')
    await advance(client, { days: 1 })
    expect(await bodyOf(client.receipts.get({ params: { id } }))).toMatchObject({
      status: 'suggested',
      suggestions: [{ transactionId }],
    })
    await advance(client, { days: 30 })
    const due = await service.sql('select look_at from receipts where owner_id = $1', [ownerId])
    expect(due).toEqual([{ look_at: null }])
  })

  test('a total that differs from the payment is a mismatch, shown on the intent and in an event', async () => {
    const { client, transactionId, intentId } = await aPayer()
    const { id } = await sent(client, await aBill('19.90'), { transactionId })
    const { data } = await bodyOf(client.events.list({ query: { limit: 1 } }))
    expect(data).toMatchObject([
      { event: 'receipt.updated', data: { receiptId: id, transactionId, status: 'mismatch' } },
    ])
    const read = () => bodyOf(client.intents.get({ params: { id: intentId } }))
    expect((await read()).receiptStatus).toBe('mismatch')
    // A matching receipt does not hide the mismatch of the other.
    await sent(client, await aBill('25.00'), { transactionId })
    expect((await read()).receiptStatus).toBe('mismatch')
    await client.receipts.delete({ params: { id } })
    expect((await read()).receiptStatus).toBe('matched')
  })
})

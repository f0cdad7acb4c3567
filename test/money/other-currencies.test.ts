import { describe, expect, test } from '@jest/globals'
import { parseXml } from '../../src/iso20022/xml-reader.ts'
import { schemaViolation } from '../../src/iso20022/xml-schema.ts'
import { aPayer, credentialsOn, type Payer, pay } from '../support/commerce/payers.ts'
import { anIntent, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { signedInTo } from '../support/identity/console.ts'
import { aPayingOwner, later, steady } from '../support/insight/paying.ts'
import { camt053Schema } from '../support/money/camt053-schema.ts'
import { rowsOf } from '../support/money/statements.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const service = await startTestService({ own: true })

const DOLLARS = { amount: '23.20', currency: 'USD' }
const MERCHANT = `${service.url}/simulate/mpp/other-currency?amountEuros=20`

async function readPage({ owner }: Pick<Payer, 'owner'>, path: string): Promise<string> {
  const { headers } = await signedInTo(service, owner, { role: 'owner' })
  const answer = await fetch(`${service.url}/${path}`, { headers: { ...headers, accept: 'text/html' } })
  expect(answer.status).toBe(200)
  return answer.text()
}

async function fileOf({ owner }: Payer, path: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${owner.key}` }
  const answer = await fetch(`${service.url}/${path}`, { headers })
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

/** One payment of $ 23.20 for which € 20.60 is held and € 20.00 charged, and its refund. */
async function aRefundedPayment() {
  const payer = await aPayer(service, { amountEuros: 21 })
  const { client, intent } = payer
  expect((await pay(payer, MERCHANT)).status).toBe(200)
  const [credential] = await credentialsOn(client, intent.id)
  const cardId = String(credential?.cardId)
  const [authorization] = (await bodyOf(client.authorizations.list({ params: { id: cardId } }))).data
  const authorizationId = String(authorization?.id)
  const refund = { authorizationId, amountEuros: 19.5, original: DOLLARS }
  await bodyOf(client.sandbox.refundCard({ body: refund }))
  return { payer, client, cardId, authorization, authorizationId, id: String(credential?.transactionId) }
}

test('a price in dollars is paid from a wallet in euros, explained, refunded, and shown with its dollars', async () => {
  const { payer, client, cardId, authorization, authorizationId, id } = await aRefundedPayment()
  expect(authorization).toMatchObject({ original: DOLLARS, clearedEuros: 20 })
  expect(await bodyOf(client.transactions.get({ params: { id } }))).toMatchObject({
    status: 'completed',
    amountEuros: 20,
    refundedEuros: 19.5,
    original: { ...DOLLARS, heldEuros: 20.6, refundedAmount: '23.20' },
  })
  expect((await bodyOf(client.refunds.list({ query: { transactionId: id } }))).data).toMatchObject([
    { arrivedEuros: 19.5, original: DOLLARS },
  ])

  const explained = await bodyOf(
    client.authorizations.explanation({ params: { id: cardId, authorizationId } }),
  )
  expect(explained.summary).toContain(
    'The merchant’s price is $ 23.20: € 20.60 was held, and the network charged € 20.00, € 0.60 less.',
  )
  expect(explained.rules).toContainEqual(
    expect.objectContaining({
      rule: 'conversionMarginPercent',
      message: expect.stringMatching(/^\$ 23\.20 counts as € 20\.60: at 1\.1600 .* plus 3 %\.$/),
    }),
  )
  const ofIntent = await bodyOf(client.intents.explanation({ params: { id: payer.intent.id } }))
  expect(ofIntent.summary).toContain('The price is $ 23.20.')

  const list = await readPage(payer, 'console/transactions')
  expect(list).toMatch(/\$\u00a023\.20<\/span> · <data class="amount" value="20">€\u00a020\.00/)
  const page = await readPage(payer, `console/transactions/${id}`)
  expect(page).toContain('$ 23.20, $ 23.20 refunded')
  expect(page).toMatch(/Held before the charge<\/dt><dd><data class="amount" value="20\.6">€\u00a020\.60/)
  expect(page).toMatch(/Difference<\/dt><dd><data class="amount" value="0\.6">€\u00a00\.60<\/data> released/)
  await expectVerifiedLedger(client)
})

/** Amount, original amount, currency and rate of each movement of the agent's wallet. */
async function aStatementOf(payer: Payer) {
  const body = { walletId: payer.agent.walletId }
  const statement = await bodyOf(payer.client.statements.create({ body }))
  const rows = rowsOf(await fileOf(payer, `statements/${statement.id}/csv`))
  const [head = []] = rows
  const column = (name: string) => rows.map(row => row[head.indexOf(name)])
  const inOrder = ['amountEuros', 'originalAmount', 'originalCurrency', 'exchangeRate'].map(column)
  return { statement, rows, lines: rows.map((_, n) => inOrder.map(cells => cells[n])) }
}

describe('a payment in dollars that clears above its hold', () => {
  const dollars = (amount: string) => ({ amount, currency: 'USD' })

  test.each([
    ['as the rate has moved', 20, { amountEuros: 21, original: dollars('23.20') }, '1.1047619'],
    ['with a tip', 20, { amountEuros: 24, original: dollars('27.84') }, '1.16'],
  ])('%s, is one movement with its dollars and the rate that was charged', async (_, held, cleared, rate) => {
    const payer = await aPayer(service, { amountEuros: 1 })
    const { client, card } = payer
    const asked = { cardId: card.id, merchant: 'Diner', amountEuros: held, original: dollars('23.20') }
    const { authorizationId } = await bodyOf(client.sandbox.authorizeCard({ body: asked }))
    await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(authorizationId), ...cleared } }))
    const { lines } = await aStatementOf(payer)
    const { amount, currency } = cleared.original
    expect(lines.filter(([amount]) => amount?.startsWith('-'))).toEqual([
      [`-${cleared.amountEuros}.00`, amount, currency, rate],
    ])
    await expectVerifiedLedger(client)
  })

  test('of several authorizations, is one movement, too', async () => {
    const payer = await aPayer(service, { amountEuros: 1 })
    const { client, card } = payer
    const asked = { cardId: card.id, merchant: 'Hotel', amountEuros: 20, original: dollars('23.20') }
    const answer = await bodyOf(client.sandbox.authorizeCard({ body: asked }))
    const authorizationId = String(answer.authorizationId)
    const more = { authorizationId, amountEuros: 10, original: dollars('11.60') }
    await bodyOf(client.sandbox.incrementCard({ body: more }))
    const cleared = { authorizationId, amountEuros: 25, original: dollars('29.00') }
    await bodyOf(client.sandbox.clearCard({ body: cleared }))
    const { lines } = await aStatementOf(payer)
    expect(lines.filter(([amount]) => amount?.startsWith('-'))).toEqual([['-25.00', '29.00', 'USD', '1.16']])
    await expectVerifiedLedger(client)
  })

  test('and more than its wallet has, is shown with the rate of the whole charge', async () => {
    const payer = await aPayer(service, { amountEuros: 1 })
    const { client, card, agent } = payer
    const asked = { cardId: card.id, merchant: 'Diner', amountEuros: 20, original: dollars('23.20') }
    const { authorizationId } = await bodyOf(client.sandbox.authorizeCard({ body: asked }))
    const { availableEuros } = await bodyOf(client.agents.balance({ params: { id: agent.id } }))
    const charged = 20 + availableEuros + 10
    const cleared = { amountEuros: charged, original: dollars((charged * 1.16).toFixed(2)) }
    await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(authorizationId), ...cleared } }))
    const { lines } = await aStatementOf(payer)
    expect(lines.filter(([amount]) => amount?.startsWith('-'))).toEqual([
      [`-${charged - 10}.00`, cleared.original.amount, 'USD', '1.16'],
    ])
    await expectVerifiedLedger(client)
  })
})

test('a statement has the dollars and the charged rate beside the euros, in each form', async () => {
  const { payer } = await aRefundedPayment()
  const { statement, lines } = await aStatementOf(payer)
  expect(lines).toContainEqual(['-20.00', '23.20', 'USD', '1.16'])
  expect(lines).toContainEqual(['19.50', '23.20', 'USD', '1.1897436'])
  const others = lines.slice(1).filter(([, amount]) => amount === '')
  expect(others.length).toBe(lines.length - 3)
  expect(others.every(([, ...original]) => original.every(cell => cell === ''))).toBe(true)

  const xml = (await fileOf(payer, `statements/${statement.id}/camt053`)).toString()
  expect(schemaViolation(parseXml(xml), camt053Schema)).toBeUndefined()
  expect(xml).toContain(
    '<AmtDtls><InstdAmt><Amt Ccy="USD">23.20</Amt><CcyXchg><SrcCcy>USD</SrcCcy><TrgtCcy>EUR</TrgtCcy><UnitCcy>EUR</UnitCcy><XchgRate>1.16</XchgRate></CcyXchg></InstdAmt><TxAmt><Amt Ccy="EUR">20.00</Amt></TxAmt></AmtDtls>',
  )
  const pdf = await fileOf(payer, `statements/${statement.id}/pdf`)
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
})

describe('a machine payment in dollars that is paid before the network charges it', () => {
  async function aPaidOne() {
    const payer = await aPayer(service, { amountEuros: 21 })
    const { client, card, agentClient, intent, agent } = payer
    const challenge = String((await fetch(MERCHANT)).headers.get('www-authenticate'))
    const minted = await bodyOf(
      agentClient.mpp.mint({ body: { url: MERCHANT, challenge, intentId: intent.id } }),
    )
    await bodyOf(client.mpp.resolve({ params: { id: minted.id }, body: { outcome: 'paid' } }))
    const [token] = (await bodyOf(client.agentCredentials.list({ query: { cardId: card.id } }))).data
    const clear = (amountEuros: number, amount: string, more: object = {}) =>
      bodyOf(
        client.sandbox.clearCard({
          body: {
            authorizationId: 'charged',
            amountEuros,
            cardId: card.id,
            merchant: 'SHOP',
            agentCredentialId: String(token?.id),
            original: { amount, currency: 'USD' },
            ...more,
          },
        }),
      )
    const balance = async () => {
      const { availableEuros, heldEuros } = await bodyOf(client.agents.balance({ params: { id: agent.id } }))
      return { availableEuros, heldEuros }
    }
    const debits = async () =>
      (await aStatementOf(payer)).rows
        .slice(1)
        .filter(([, , kind]) => kind?.startsWith('Payment'))
        .map(row => [row[2], row[7], ...row.slice(10)])
    return { ...payer, clear, balance, debits }
  }

  test.each([
    ['as was expected', 20, '1.16'],
    ['more', 21.5, '1.0790698'],
  ])('is held until then, and one movement at the rate that was charged: %s', async (_, charged, rate) => {
    const { client, intent, clear, balance, debits } = await aPaidOne()
    const before = await balance()
    expect(before.heldEuros).toBe(20.6)
    expect(await debits()).toEqual([])
    expect(await bodyOf(client.intents.get({ params: { id: intent.id } }))).toMatchObject({
      status: 'completed',
    })
    await clear(charged, '23.20')
    expect(await debits()).toEqual([['Payment by card', `-${charged.toFixed(2)}`, '23.20', 'USD', rate]])
    const available = before.availableEuros + 20.6 - charged
    expect(await balance()).toEqual({ availableEuros: Number(available.toFixed(2)), heldEuros: 0 })
    await expectVerifiedLedger(client)
  })

  test('is a movement for each of its clearings, at its own rate', async () => {
    const { client, clear, balance, debits } = await aPaidOne()
    await clear(10, '11.60', { final: false })
    expect((await balance()).heldEuros).toBe(10.6)
    await clear(9, '11.60')
    expect((await debits()).map(([, ...figures]) => figures)).toEqual([
      ['-10.00', '11.60', 'USD', '1.16'],
      ['-9.00', '11.60', 'USD', '1.2888889'],
    ])
    expect((await balance()).heldEuros).toBe(0)
    await expectVerifiedLedger(client)
  })

  test('is no movement if it is never charged: the money is free again', async () => {
    const { client, balance, debits } = await aPaidOne()
    const before = await balance()
    await bodyOf(client.sandbox.advance({ body: { days: 32 } }))
    expect(await balance()).toEqual({
      availableEuros: Number((before.availableEuros + 20.6).toFixed(2)),
      heldEuros: 0,
    })
    expect(await debits()).toEqual([])
    await expectVerifiedLedger(client)
  })
})

test('a forecast shows the dollars of a payment that has begun', async () => {
  const payer = await aPayer(service, { amountEuros: 21 })
  const { client, agent, agentClient, intent, owner } = payer
  await anIntent(client, agent.id, { merchant: 'Bookshop', amountEuros: 4 })
  const challenge = String((await fetch(MERCHANT)).headers.get('www-authenticate'))
  const minted = await agentClient.mpp.mint({ body: { url: MERCHANT, challenge, intentId: intent.id } })
  expect(minted).toMatchObject({ status: 201, body: { amountEuros: 20.6 } })
  const { basis } = await bodyOf(client.forecast.ofAgent({ params: { id: agent.id }, query: { days: 7 } }))
  expect(basis.known.map(({ amountEuros, original }) => ({ amountEuros, original }))).toEqual(
    expect.arrayContaining([
      { amountEuros: 21, original: DOLLARS },
      { amountEuros: 4, original: null },
    ]),
  )
  const page = await readPage({ ...payer, owner }, `console/forecast?agentId=${agent.id}`)
  expect(page).toContain('$\u00a023.20')
})

test('a forecast shows the dollars of a subscription at the euros of its last charge, and no dollars of another merchant', async () => {
  const owner = await aPayingOwner(service)
  const { client, card, holder } = owner
  const price = { amount: '20.00', currency: 'USD' }
  const charge = async (merchant: string, amountEuros: number, original?: typeof price) => {
    const asked = { cardId: card.id, merchant, amountEuros, ...(original ? { original } : {}) }
    const { authorizationId } = await bodyOf(client.sandbox.authorizeCard({ body: asked }))
    const cleared = { authorizationId: String(authorizationId), ...(original ? { original } : {}) }
    await bodyOf(client.sandbox.clearCard({ body: cleared }))
  }
  for (const amountEuros of [17.1, 17.24, 17.05, 17.31]) {
    await charge('Hosting', amountEuros, price)
    await charge('Bookshop', amountEuros)
    await later(client, 7)
  }
  const of = (known: readonly { merchant: string; date: string }[], merchant: string) =>
    known.filter(one => one.merchant === merchant)
  const { basis } = await steady(service, () =>
    bodyOf(client.forecast.ofAgent({ params: { id: holder.id }, query: { days: 14 } })),
  )
  const expected = { kind: 'subscription', amountEuros: 17.31, agentId: holder.id, intentId: null }
  const [hosting, bookshop] = [of(basis.known, 'hosting'), of(basis.known, 'bookshop')]
  expect(hosting).toEqual(
    hosting.map(({ date }) => ({ ...expected, date, merchant: 'hosting', original: price })),
  )
  expect(bookshop).toEqual(
    bookshop.map(({ date }) => ({ ...expected, date, merchant: 'bookshop', original: null })),
  )
  expect([hosting.length, bookshop.length]).toEqual([2, 2])
  const page = await readPage({ owner }, `console/forecast?agentId=${holder.id}`)
  expect(page).toContain('$\u00a020.00')
})

test('a simulated amount in another currency has the decimals of that currency', async () => {
  const { client, card } = await aPayer(service)
  const authorize = (original: object) =>
    client.sandbox.authorizeCard({
      body: { cardId: card.id, amountEuros: 5, merchant: 'Bookshop', original: original as never },
    })
  expect((await authorize({ amount: '6', currency: 'USD' })).status).toBe(400)
  expect((await authorize({ amount: '900.00', currency: 'JPY' })).status).toBe(400)
  expect((await authorize({ amount: '5.00', currency: 'EUR' })).status).toBe(400)
  expect((await authorize({ amount: '900', currency: 'JPY' })).status).toBe(200)
  const { data } = await bodyOf(client.authorizations.list({ params: { id: card.id } }))
  expect(data).toMatchObject([{ original: { amount: '900', currency: 'JPY' } }])
})

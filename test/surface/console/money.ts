import { describe, expect, test } from '@jest/globals'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { authorize, authorized } from '../../support/cards/simulated.ts'
import { aPayer, credentialsOn, pay } from '../../support/commerce/payers.ts'
import {
  aBeneficiary,
  aFundedAgent,
  anIntent,
  aSepaTransfer,
  aWallet,
  bodyOf,
} from '../../support/factories.ts'
import { aVisitor, service } from './visitors.ts'

const network = networkBefore(service)

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const LISTS = [
  ...['transactions', 'transfers', 'beneficiaries', 'requests', 'machine-payments', 'cards', 'wallets'],
  ...[
    'statements',
    'accounts',
    'billing',
    'fundings',
    'postings',
    'refunds',
    'disputes',
    'receipts',
    'protect-rules',
    'doubtful-money',
  ],
]

async function aSpender() {
  const visitor = await aVisitor()
  const { client } = visitor.owner
  const wallet = await aWallet(client, 1_000)
  return { ...visitor, client, wallet }
}

/** A transfer whose payee the bank knows by another name, so it waits for a person. */
async function aDoubtfulTransfer({ client, wallet }: Awaited<ReturnType<typeof aSpender>>) {
  const { id: beneficiaryId } = await aBeneficiary(client, { name: 'Close Adler GmbH' })
  const { id } = await aSepaTransfer(client, { fromWalletId: wallet.id, beneficiaryId, amountEuros: 80 })
  await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
  return id
}

const operations = (page: string): string[] =>
  [...page.matchAll(/data-operation="([^"]+)"/g)].map(([, operation = '']) => operation)

describe('the pages about money', () => {
  test('say where there is nothing what to do, and show a viewer nothing to press', async () => {
    const { owner, read } = await aVisitor()
    const viewer = await aVisitor('viewer', owner)
    for (const list of LISTS) {
      const { status, text } = await read(`console/${list}`)
      expect([list, status]).toEqual([list, 200])
      const seen = await viewer.read(`console/${list}`)
      expect([list, seen.status, operations(seen.text)]).toEqual([list, 200, []])
      if (list !== 'billing') expect(text).toMatch(/class="empty"|<tbody>/)
    }
  })

  test('list receipts and refunds with their payment, by its amount and payee', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const { agent, card } = await aPayingCard(client, 100)
    await anIntent(client, agent.id, { amountEuros: 40, merchant: 'Bookshop' })
    const { authorizationId } = await network.authorize(card.id, 40)
    await network.clear(card.id, authorizationId, 40)
    const [payment] = (await bodyOf(client.transactions.list({}))).data
    const transactionId = String(payment?.id)
    await bodyOf(client.receipts.create({ body: { file: PIXEL, transactionId } }))
    await bodyOf(client.refunds.create({ body: { transactionId, amountEuros: 4, reason: 'other' } }))
    const other = `${PIXEL.slice(0, -4)}gg==`
    const unmatched = await bodyOf(client.receipts.create({ body: { file: other } }))
    const suggested = [{ transactionId, score: 60, reasons: ['amount_equal'] }]
    const values = [unmatched.id, JSON.stringify(suggested)]
    await service.sql(
      `update receipts set suggestions = $2::jsonb, status = 'suggested' where id = $1`,
      values,
    )
    for (const page of ['receipts', 'refunds', `receipts/${unmatched.id}`])
      expect((await read(`console/${page}`)).text).toContain(
        `transactions/${transactionId}"><bdi>€ 40.00 to Bookshop</bdi></a>`,
      )
  })

  test('name a deleted agent and its closed wallet, and offer neither in a form', async () => {
    const { client, read } = await aSpender()
    const agent = await aFundedAgent(client, { name: 'Retired reader' })
    const params = { id: agent.id }
    const card = await bodyOf(client.cards.create({ body: { agentId: agent.id, usage: 'multi' } }))
    await bodyOf(client.agents.delete({ params }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await bodyOf(client.agents.get({ params }))).status).toBe('deleted')
    await bodyOf(client.statements.create({ body: { walletId: agent.walletId } }))
    const pages = [
      ['cards?status=closed', agent.id],
      [`cards/${card.id}`, agent.id],
      ['accounts', agent.walletId],
      ['statements', agent.walletId],
    ] as const
    for (const [page, id] of pages)
      expect((await read(`console/${page}`)).text).toContain(`${id}"><bdi>Retired reader</bdi></a>`)
    expect((await read('console/cards')).text).not.toContain(`value="${agent.id}"`)
    expect((await read('console/statements')).text).not.toContain(`value="${agent.walletId}"`)
  })

  test('ask about a payee with another name at the bank, and show the steps before and after the answer', async () => {
    const spender = await aSpender()
    const id = await aDoubtfulTransfer(spender)
    const approver = await aVisitor('approver', spender.owner)
    const { text } = await approver.read(`console/transfers/${id}`)
    expect(text).toContain('Is this the payee?')
    expect(text).toContain('Payee check: the name is similar')
    expect(text).toContain('Adler GmbH')
    expect(operations(text)).toEqual(['POST /transfers/{id}/confirm-payee'])
    expect(operations((await spender.read(`console/transfers/${id}`)).text)).toEqual([
      'POST /transfers/{id}/cancel',
      'POST /transfers/{id}/confirm-payee',
    ])
    await bodyOf(spender.client.transfers.confirmPayee({ params: { id }, body: {} }))
    await bodyOf(spender.client.sandbox.advance({ body: { minutes: 1 } }))
    const after = await spender.read(`console/transfers/${id}`)
    expect(after.text).not.toContain('Is this the payee?')
    expect(after.text).not.toContain('still to come')
    expect(operations(after.text)).toEqual(['POST /transfers/{id}/recall'])
  })

  test('list money whose outcome is unknown, with what ends it', async () => {
    const { read, client, wallet } = await aSpender()
    const { id: beneficiaryId } = await aBeneficiary(client)
    const payment = { fromWalletId: wallet.id, beneficiaryId, amountEuros: 777.06 }
    const { id } = await aSepaTransfer(client, payment)
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const { text } = await read('console/doubtful-money')
    expect(text).toContain('The bank has not reported the outcome.')
    expect(text).toContain('€\u00a0777.06')
    expect(text).toContain(`console/transfers/${id}">Recall</a>`)
    expect((await read('console/doubtful-money?kind=charge')).text).toContain('No matches.')
    await bodyOf(client.transfers.simulateSettle({ body: { transferId: id } }))
    expect((await read('console/doubtful-money')).text).toContain('No doubtful money')
  })

  test('let a payment be signed: the forms name the challenge, and all that is sent is signed', async () => {
    const { read } = await aSpender()
    const { text } = await read('console/transfers')
    const forms = text.match(/<form [^>]*data-operation="POST \/transfers[^>]*>/g) ?? []
    expect(forms.length).toBeGreaterThan(0)
    for (const form of forms) {
      expect(form).toContain('data-challenge="POST /passkeys/transfers/challenge"')
      expect(form).not.toContain('data-challenge-body')
    }
  })

  test('show the price of a machine payment in dollars, and how it became euros', async () => {
    const payer = await aPayer(service, { amountEuros: 21 })
    const { read } = await aVisitor('owner', payer.owner)
    await bodyOf(pay(payer, `${service.url}/simulate/mpp/other-currency?amountEuros=20`))
    const [credential] = await credentialsOn(payer.client, payer.intent.id)
    const { text } = await read(`console/machine-payments/${credential?.id}`)
    expect(text).toMatch(/\$ 23\.20, converted at 1\.1600 to the euro \(\d{4}-\d{2}-\d{2}\) plus 3 %/)
    expect(text).toContain('€\u00a020.60')
  })

  test('prove the ledger in words, and only where the address asks for it', async () => {
    const { read } = await aSpender()
    expect((await read('console/accounts')).text).not.toContain('The ledger is correct.')
    const { text } = await read('console/accounts?prove=now')
    expect(text).toMatch(/The ledger is correct\.<\/strong> \d+ entries on \d+ accounts verified/)
    const part = await read('console/accounts?part=proof&prove=now')
    expect(part.text).toContain('The ledger is correct.')
    expect(part.text).not.toContain('<table>')
  })

  test('lead from a wallet to its entries, their CSV, and its statement in three forms', async () => {
    const { read, client, wallet } = await aSpender()
    const statement = await bodyOf(client.statements.create({ body: { walletId: wallet.id } }))
    const { text } = await read(`console/wallets/${wallet.id}`)
    expect(text).toContain('€\u00a01,000.00')
    expect(text).toContain(String(wallet.iban))
    const [, address = ''] = /href="\.\.\/\.\.\/(console\/entries\?id=account_\w+)"/.exec(text) ?? []
    expect((await read(address)).text).toContain('€\u00a01,000.00')
    const table = await read(address.replace('entries', 'csv/entries'))
    expect(table.text.trimEnd().split('\r\n')).toHaveLength(2)
    for (const form of ['pdf', 'csv', 'camt053']) {
      expect(text).toContain(`href="../../statements/${statement.id}/${form}"`)
      expect((await read(`statements/${statement.id}/${form}`)).status).toBe(200)
    }
    const stranger = await aVisitor()
    expect((await stranger.read(address)).status).toBe(404)
    expect((await stranger.read(address.replace('entries', 'csv/entries'))).status).toBe(404)
  })

  test('follow a payment to what the ledger has booked for it, and every entry to its account', async () => {
    const { read, client, wallet } = await aSpender()
    const { id: beneficiaryId } = await aBeneficiary(client)
    const { id } = await aSepaTransfer(client, { fromWalletId: wallet.id, beneficiaryId, amountEuros: 20 })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const { transactionId } = await bodyOf(client.transfers.get({ params: { id } }))
    const { text } = await read(`console/transactions/${transactionId}`)
    const [posting] = /console\/postings\/posting_\w+/.exec(text) ?? ['']
    expect(text).toContain(`console/transfers/${id}`)
    const booked = await read(posting)
    expect(booked.text).toContain('Entries (sum to zero)')
    const [account] = /console\/accounts\/account_\w+/.exec(booked.text) ?? ['']
    expect((await read(account)).status).toBe(200)
  })

  test('explain a declined card payment rule by rule, with remedies', async () => {
    const { owner, read } = await aVisitor()
    const { card } = await aPayingCard(owner.client, 100, {})
    await bodyOf(owner.client.cards.setLimits({ params: { id: card.id }, body: { maxTransactionEuros: 10 } }))
    await authorize(owner.client, card.id, 25)
    const { text } = await read(`console/cards/${card.id}`)
    const [, address = ''] =
      /href="\.\.\/\.\.\/(console\/cards\/\w+\?authorization=cardauth_\w+)"/.exec(text) ?? []
    const why = await read(address)
    expect(why.text).toContain('Choose a smaller amount, or raise the limit for one payment.')
    expect(operations(why.text)).toContain('POST /cards/{id}/freeze')
    expect(operations(why.text)).not.toContain('POST /cards/{id}/unfreeze')
    await bodyOf(owner.client.cards.freeze({ params: { id: card.id }, body: {} }))
    expect(operations((await read(`console/cards/${card.id}`)).text)).toContain('POST /cards/{id}/unfreeze')
    expect((await read(`console/authorizations?id=${card.id}&status=declined`)).text).toContain(
      '€\u00a025.00',
    )
    expect((await read(`console/cards/${card.id}?authorization=cardauth_nothing`)).status).toBe(404)
  })

  test('let a payment by card be disputed on its page, and show the dispute with all that happened', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const { card } = await aPayingCard(client, 100)
    const { authorizationId } = await authorized(client, card.id, 25)
    await bodyOf(client.sandbox.clearCard({ body: { authorizationId, amountEuros: 25 } }))
    const transactionId = String((await bodyOf(client.transactions.list({}))).data[0]?.id)
    const before = await read(`console/transactions/${transactionId}`)
    expect(operations(before.text)).toContain('POST /disputes')
    const body = { transactionId, reason: 'not_received' as const, description: 'Nothing came.' }
    const { id } = await bodyOf(client.disputes.create({ body }))
    expect((await read(`console/transactions/${transactionId}`)).text).toContain(`console/disputes/${id}`)
    const { text } = await read(`console/disputes/${id}`)
    expect(operations(text)).toEqual([
      'POST /disputes/{id}/submit',
      'POST /disputes/{id}/withdraw',
      'POST /receipts',
    ])
    expect(text).toContain('<span class="what">Created</span>')
    expect(text).toContain(`disputes/${id}/bundle`)
  })

  test('offer a refund of a card payment, and show what it waits for', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const { card } = await aPayingCard(client, 100)
    const { authorizationId } = await authorized(client, card.id, 25)
    await bodyOf(client.sandbox.clearCard({ body: { authorizationId, amountEuros: 25 } }))
    const transactionId = String((await bodyOf(client.transactions.list({}))).data[0]?.id)
    expect(operations((await read(`console/transactions/${transactionId}`)).text)).toContain('POST /refunds')
    const body = { transactionId, amountEuros: 5, reason: 'not_delivered' as const }
    const { id } = await bodyOf(client.refunds.create({ body }))
    expect((await read(`console/transactions/${transactionId}`)).text).toContain(`console/refunds/${id}`)
    const { text } = await read(`console/refunds/${id}`)
    expect(operations(text)).toEqual(['POST /refunds/{id}/cancel'])
    expect(text).toContain('€\u00a05.00')
    expect(text).toContain('Not delivered')
    await bodyOf(client.sandbox.refundCard({ body: { cardId: card.id, merchant: 'KIOSK', amountEuros: 7 } }))
    const [alone] = (await bodyOf(client.transactions.list({ query: { type: 'refund' } }))).data
    expect(operations((await read(`console/transactions/${alone?.id}`)).text)).not.toContain('POST /refunds')
  })

  test('show a request for money with how it is paid, and what has come for it', async () => {
    const { owner, read } = await aVisitor()
    const agent = await aFundedAgent(owner.client, { name: 'Scout' })
    const request = await bodyOf(
      owner.client.collect.create({
        body: { walletId: agent.walletId, amountEuros: 12.5, description: 'Report 17', expiresInHours: 72 },
      }),
    )
    const open = await read(`console/requests/${request.id}`)
    expect(open.text).toContain(request.reference)
    expect(operations(open.text)).toEqual([
      'POST /collect/requests/{id}/settle',
      'POST /collect/requests/{id}/cancel',
    ])
    await bodyOf(owner.client.collect.settle({ params: { id: request.id }, body: {} }))
    const paid = await read(`console/requests/${request.id}`)
    expect(operations(paid.text)).toEqual(['POST /collect/requests/{id}/refund'])
    const [payment] = /console\/transactions\/txn_\w+/.exec(paid.text) ?? ['']
    const { text } = await read(payment)
    expect(text).toContain('The money is in the wallet')
    expect(text).toMatch(/console\/postings\/posting_\w+/)
    const list = (await read(`console/request-payments?id=${request.id}`)).text
    expect(list).toContain(`${payment}"><bdi>€ 12.50 for Report 17</bdi>`)
    await bodyOf(owner.client.collect.refund({ params: { id: request.id }, body: {} }))
    expect(operations((await read(`console/requests/${request.id}`)).text)).toEqual([])
  })
})

import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { IntentPayments, intentPaidEvents, SpendLocks } from '../../../src/control/intents/index.ts'
import {
  bookedFacts,
  incrementPostingReference,
  intentHoldReference,
  messageEvidence,
  noPaymentFacts,
  type Payment,
  type PaymentChannel,
  type PaymentFact,
  type PaymentFacts,
  PaymentSession,
  paymentBatch,
  writePayments,
} from '../../../src/control/payments/index.ts'
import { area } from '../../../src/kernel/contract/area.ts'
import { bindHandlers, type ContextOf, type InputOf, post } from '../../../src/kernel/contract/operation.ts'
import type { Row } from '../../../src/kernel/contract/sql.ts'
import { loadRefundBook, refundArrivedEvents } from '../../../src/money/refunds/index.ts'
import { transactionsById } from '../../../src/money/transactions/index.ts'
import { walletsById } from '../../../src/money/wallets/index.ts'
import { id } from '../../../src/values/ids.ts'
import { moneySchema } from '../../../src/values/money.ts'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

/**
 * A complete rail as an example: an invoice that a bank pays. A rail is a channel (`channel`), the facts of
 * its messages (`factOf`) and the loading of its batch (`stateFact`). Money, limits, transaction, refunds and
 * intent follow from the facts.
 */
const TABLES = 'create table invoices (intent_id text primary key, transaction_id text, facts jsonb)'
const STORED = 'select facts, transaction_id as "transactionId" from invoices where intent_id = $1'

const fact = z.object({
  type: z.enum(['requested', 'captured', 'cleared', 'refunded']),
  amountCents: moneySchema,
  walletId: id('wallet'),
})
const api = {
  state: post('/test/invoices/{id}/facts', {
    summary: 'State a fact about an invoice',
    callers: ['key'],
    scope: 'policies:write',
    body: fact,
    example: { type: 'captured', amountEuros: 20, walletId: 'wallet_1' },
    returns: [200, z.object({ transactionId: id('txn').nullable(), outstandingCents: moneySchema })],
    emits: { ...intentPaidEvents, ...refundArrivedEvents },
  }),
}

const channel: PaymentChannel<Payment> = {
  clearing: 'clearing_sepa',
  postings: {
    capture: 'sepa_submit',
    settle: 'sepa_settle',
    undo: 'sepa_undo',
    undoUnmatched: 'sepa_undo_unmatched',
    refund: 'sepa_return',
    refundUnmatched: 'unmatched_credit',
  },
  holdReference: incrementPostingReference,
  refunds: { way: 'sepa', origin: 'bank', sourceType: 'invoice' },
  limitsOf: () => [],
  record: () => undefined,
  transactionOf({ intentId }, { capturedCents, clearedCents, refundedCents }) {
    const amountCents = capturedCents || refundedCents
    if (amountCents === 0n) return null
    const paid = clearedCents > 0n ? 'completed' : 'settlement'
    const status = refundedCents >= amountCents ? 'refunded' : paid
    const common = {
      type: 'transfer',
      transferId: null,
      intentId,
      declineReason: null,
      original: null,
    } as const
    return { ...common, status, amountCents, refundedCents }
  },
}

const factOf = ({ type, amountCents: cents }: z.output<typeof fact>): PaymentFact =>
  type === 'cleared' || type === 'refunded' ? { type, id: type, cents, final: true } : { type, cents }

/** No card pays invoices, and no limit other than those of the intent counts them. */
const bookshop = { agentId: null, cardId: null, merchant: 'Bookshop', mcc: null, country: null }

/** Opens the batch, applies one fact, and writes the result. */
async function stateFact({ params, body }: InputOf<typeof api.state>, context: ContextOf<typeof api.state>) {
  const { sql, tenant, now } = context
  const [intentId, walletId] = [params.id, body.walletId]
  const locks = new SpendLocks(sql, context)
  await locks.agentsOf([intentId])
  const [stored] = await sql<Row & { facts: PaymentFacts; transactionId: string | null }>(STORED, [intentId])
  const transactionId = stored?.transactionId ?? null
  const held = [intentHoldReference(intentId)]
  const rows = await locks.take({
    others: ['bank', 'clearing_sepa', 'suspense'],
    ...{ reservations: held, holds: held, wallets: [walletId], intents: [intentId] },
  })
  const batch = paymentBatch(context, {
    payments: new IntentPayments(context, rows),
    book: rows.book,
    wallets: await walletsById(sql, tenant, [walletId]),
    refunds: await loadRefundBook(sql, { tenant, now }, {}),
    transactions: new Map(await transactionsById(sql, tenant, [transactionId ?? ''])),
  })
  const record = { id: intentId, intentId, walletId, source: 'intent', transactionId }
  const payment: Payment = { ...record, ...bookshop, ...bookedFacts(stored?.facts ?? noPaymentFacts) }
  const evidence = messageEvidence('invoice', intentId, intentId, `${body.type}/${body.amountCents}`)
  const session = new PaymentSession(channel, batch, context)
  const { pendingCents } = session.apply(payment, factOf(body), evidence)
  await sql(
    'insert into invoices values ($1, $2, $3) on conflict (intent_id) do update set transaction_id = $2, facts = $3',
    [intentId, payment.transactionId, JSON.stringify(payment.facts)],
  )
  await writePayments(batch, sql)
  return { transactionId: payment.transactionId, outstandingCents: pendingCents }
}

const invoices = area('Invoices', 'Of the tests.', bindHandlers(api, { state: stateFact }))
const service = await startTestService({ areas: { ...areas, invoices }, tables: TABLES })

test.each([
  [['captured', 'cleared', 'refunded']],
  [['captured', 'cleared', 'captured', 'refunded', 'refunded']],
  [['refunded', 'cleared', 'captured']],
] as const)('a new rail that only states facts pays an intent, in any order: %s', async types => {
  const { client } = await service.owner()
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
  const { id: intentId } = await anIntent(client, agent.id, { amountEuros: 20 })
  const params = { id: intentId }
  const state = (type: z.output<typeof fact>['type'], amountEuros = 20) =>
    bodyOf(client.invoices.state({ params, body: { type, amountEuros, walletId: agent.walletId } }))
  const before = await bodyOf(client.agents.balance({ params: { id: agent.id } }))
  expect(await state('requested')).toEqual({ transactionId: null, outstandingEuros: 20 })
  for (const type of types) await state(type, type === 'refunded' ? 5 : 20)
  const { transactionId } = await state('captured')
  expect(await bodyOf(client.transactions.get({ params: { id: String(transactionId) } }))).toMatchObject({
    ...{ intentId, status: 'completed', amountEuros: 20, refundedEuros: 5 },
  })
  expect(await bodyOf(client.intents.get({ params }))).toMatchObject({ status: 'completed', transactionId })
  const after = await bodyOf(client.agents.balance({ params: { id: agent.id } }))
  expect([after.heldEuros, before.availableEuros - after.availableEuros]).toEqual([0, -5])
  await expectVerifiedLedger(client)
})

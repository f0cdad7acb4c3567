import { z } from 'zod'
import { area } from '../../../src/kernel/contract/area.ts'
import { bindHandlers, type ContextOf, post } from '../../../src/kernel/contract/operation.ts'
import { incomingCreditEvents } from '../../../src/money/incoming/api.ts'
import { lockIncomingCredits } from '../../../src/money/incoming/credits.ts'
import { IncomingCredit, NewCreditRows } from '../../../src/money/incoming/incoming-credit.ts'
import {
  ownerPaymentAccounts,
  payOwner,
  payOwnerInBatch,
  refundableCreditCents,
  refundableWallets,
  refundOwnerPayment,
} from '../../../src/money/incoming/pay-owner.ts'
import type { PostingCause } from '../../../src/money/ledger/book.ts'
import { lockBook, OWNER_TRANSFER_ACCOUNTS } from '../../../src/money/ledger/open-book.ts'
import { type PayableReference, registerReference } from '../../../src/money/references/register.ts'
import { id } from '../../../src/values/ids.ts'
import { positiveMoneySchema } from '../../../src/values/money.ts'

const Made = z.object({ id: id('credit') })
const fails = { too_little: [400, 'There is not so much.'] } as const
const payment = z.strictObject({
  fromWalletId: id('wallet'),
  toOwnerId: id('customer'),
  toWalletId: id('wallet'),
  amountCents: positiveMoneySchema(),
  payableId: z.string().max(60).nullable().default(null),
  /** As versions before 0.6.0 did: the other owner posts it later, in a separate transaction. */
  asBefore: z.boolean().default(false),
})
const shared = {
  callers: ['key'],
  scope: 'wallets:write',
  returns: [200, Made],
  fails,
} as const

/** A test noun that pays other owners in the ways of the production nouns. */
const payerApi = {
  request: post('/payer/requests', {
    summary: 'Create a payment request',
    callers: ['key'],
    scope: 'wallets:write',
    body: z.strictObject({ walletId: id('wallet'), requestId: z.string().max(60) }),
    example: { walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', requestId: 'request_1' },
    returns: [200, z.object({ reference: z.string() })],
  }),
  pay: post('/payer/payments', {
    ...shared,
    summary: 'Pay an owner',
    body: payment,
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      toOwnerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      toWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 1,
    },
    emits: incomingCreditEvents,
  }),
  refund: post('/payer/refunds', {
    ...shared,
    summary: 'Give a payment back',
    body: z.strictObject({ creditId: id('credit'), amountCents: positiveMoneySchema() }),
    example: { creditId: 'credit_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 1 },
    emits: incomingCreditEvents,
  }),
  charge: post('/payer/charges', {
    ...shared,
    summary: 'Take a payment of an owner',
    body: payment.extend({ fromOwnerId: id('customer') }),
    example: {
      fromOwnerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      toOwnerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      toWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 1,
    },
  }),
  take: post('/payer/taken', {
    summary: 'Let a payment be taken',
    callers: [],
    body: payment,
    example: {
      fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      toOwnerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      toWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 1,
    },
    returns: [200, Made],
    fails,
    emits: incomingCreditEvents,
  }),
}

const payableOf = (id: string | null): PayableReference | null =>
  id === null ? null : { type: 'request', id }

const NOT_BOOKED = 'update incoming_credits set due_at = $2 where id = $1'

async function pay(
  body: z.output<typeof payment>,
  context: ContextOf<typeof payerApi.take>,
): Promise<string | undefined> {
  const { sql, now, queueStatement } = context
  const { fromWalletId, toOwnerId, toWalletId, amountCents, payableId, asBefore } = body
  const to = { ownerId: toOwnerId, walletId: toWalletId, name: 'Payee' }
  const book = await lockBook(sql, context, ownerPaymentAccounts(fromWalletId, to))
  if (!book.canPay(fromWalletId, amountCents)) return undefined
  const members = { fromWalletId, amountCents, payable: payableOf(payableId), reference: 'For the tests' }
  const made = { ...members, senderName: 'Payer', to }
  const take = (cause: PostingCause) => book.move('charge_out', fromWalletId, 'bank', amountCents, cause)
  if (!asBefore) {
    const id = await payOwner(made, take, book, context)
    queueStatement(book.post(sql))
    return id
  }
  const credits = new NewCreditRows({ now })
  const { id } = payOwnerInBatch(made, take, new Map(), book, credits, context)
  queueStatement(book.post(sql))
  await credits.insert(sql)
  await sql(NOT_BOOKED, [id, now])
  return id
}

export const payerArea = area(
  'Payer',
  'Payments of the tests.',
  bindHandlers(payerApi, {
    async request({ body: { walletId, requestId } }, context) {
      return {
        reference: await registerReference(context, {
          walletId,
          payable: { type: 'request', id: requestId },
        }),
      }
    },
    async take({ body }, context) {
      const id = await pay(body, context)
      return id === undefined ? context.refuse('too_little') : { id }
    },
    async pay({ body }, context) {
      const id = await pay(body, context)
      return id === undefined ? context.refuse('too_little') : { id }
    },
    async refund({ body: { creditId, amountCents } }, context) {
      const { em, tenant, sql, queueStatement, refuse } = context
      const known = await em.findOne(IncomingCredit, { ...tenant, id: creditId })
      const walletId = String(known?.walletId)
      const otherOwners = await refundableWallets(known ? [known] : [], context)
      const wallets = [walletId, String(known?.fromWalletId)]
      const [book, credits] = await Promise.all([
        lockBook(sql, context, { wallets, ...OWNER_TRANSFER_ACCOUNTS, otherOwners }),
        lockIncomingCredits([creditId], context),
      ])
      const credit = credits.get(creditId)
      if (!credit || refundableCreditCents(credit) < amountCents || !book.canPay(walletId, amountCents))
        return refuse('too_little')
      const members = { amountCents, senderName: 'Payee', reference: 'Given back' }
      const id = await refundOwnerPayment(credit, members, book, context)
      queueStatement(book.post(sql))
      return { id }
    },
    async charge({ body: { fromOwnerId, ...body } }, { tenant, runForOwner, requestId }) {
      const from = { ...tenant, ownerId: fromOwnerId }
      return (await runForOwner(from, 'payer.take', { body }, requestId)) as { id: string }
    },
  }),
)

import { z } from 'zod'
import { area } from '../../../src/kernel/contract/area.ts'
import { Settled } from '../../../src/kernel/contract/handlers.ts'
import { type ContextOf, implement, post } from '../../../src/kernel/contract/operation.ts'
import { lockCredit } from '../../../src/money/incoming/credits.ts'
import { creditEvents } from '../../../src/money/incoming/events.ts'
import {
  bookAll,
  finishHandOvers,
  type HandedOver,
  noteArrived,
} from '../../../src/money/incoming/hand-over.ts'
import { IncomingCredit } from '../../../src/money/incoming/incoming-credit.ts'
import {
  accountsToPay,
  type MadePayment,
  payOwner,
  refundableEuros,
  refundOwner,
} from '../../../src/money/incoming/pay-owner.ts'
import { openBook } from '../../../src/money/ledger/open-book.ts'
import { newReference, type Payable } from '../../../src/money/references/register.ts'
import { id } from '../../../src/values/ids.ts'
import { positiveEuros } from '../../../src/values/money.ts'

const Made = z.object({ id: id('credit') })
const fails = { too_little: [400, 'There is not so much.'] } as const
const payment = z.strictObject({
  fromWalletId: id('wallet'),
  toOwnerId: id('customer'),
  toWalletId: id('wallet'),
  amountEuros: positiveEuros(),
  payableId: z.string().max(60).nullable().default(null),
})
const shared = {
  callers: ['key'],
  scope: 'wallets:write',
  run: 'outside',
  returns: [200, Made],
  fails,
} as const

/** A noun of the tests, which pays other owners in the ways that nouns of the business do. */
const payerApi = {
  request: post('/payer/requests', {
    summary: 'Ask for money',
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
    emits: creditEvents,
  }),
  refund: post('/payer/refunds', {
    ...shared,
    summary: 'Give a payment back',
    body: z.strictObject({ creditId: id('credit'), amountEuros: positiveEuros() }),
    example: { creditId: 'credit_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 1 },
    emits: creditEvents,
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
    emits: creditEvents,
  }),
}

const payableOf = (id: string | null): Payable | null => (id === null ? null : { type: 'request', id })

/** Pays from what the wallet has available. */
async function pay(
  body: z.output<typeof payment>,
  context: ContextOf<typeof payerApi.take>,
): Promise<MadePayment | undefined> {
  const { sql, sendAlong } = context
  const { fromWalletId, toOwnerId, toWalletId, amountEuros, payableId } = body
  const book = await openBook(sql, context, accountsToPay(fromWalletId, toWalletId))
  if (!book.canPay(fromWalletId, amountEuros)) return undefined
  const members = { fromWalletId, amountEuros, payable: payableOf(payableId), reference: 'For the tests' }
  const made = await payOwner(
    { ...members, senderName: 'Payer', to: { ownerId: toOwnerId, walletId: toWalletId, name: 'Payee' } },
    cause => book.move('charge_out', fromWalletId, 'bank', amountEuros, cause),
    book,
    context,
  )
  sendAlong(book.post(sql))
  return made
}

const reserved = ({ id, handedOver }: MadePayment) => handedOver ?? new Settled({ id })

const handingOver = {
  call: (credit: HandedOver, outside: Parameters<typeof bookAll>[1]) => bookAll([credit], outside),
  async record(
    arrived: HandedOver[],
    { id }: HandedOver,
    { sql }: Pick<ContextOf<typeof payerApi.take>, 'sql'>,
  ) {
    await noteArrived(sql, arrived)
    return { id }
  },
  recover: async ({ id }: HandedOver) => ({ id }),
}

export const payerArea = area(
  'Payer',
  'Payments of the tests.',
  implement(payerApi, {
    async request({ body: { walletId, requestId } }, context) {
      return {
        reference: await newReference(context, { walletId, payable: { type: 'request', id: requestId } }),
      }
    },
    async take({ body }, context) {
      return (await pay(body, context)) ?? context.refuse('too_little')
    },
    pay: {
      async reserve({ body }, context) {
        const made = await pay(body, context)
        return made ? reserved(made) : context.refuse('too_little')
      },
      ...handingOver,
    },
    refund: {
      async reserve({ body: { creditId, amountEuros } }, context) {
        const { records, tenant, sql, sendAlong, refuse } = context
        const known = await records.findOne(IncomingCredit, { ...tenant, id: creditId })
        const walletId = String(known?.walletId)
        const [book, credit] = await Promise.all([
          openBook(sql, context, accountsToPay(walletId, String(known?.fromWalletId))),
          lockCredit(creditId, context),
        ])
        if (!credit || refundableEuros(credit) < amountEuros || !book.canPay(walletId, amountEuros))
          return refuse('too_little')
        const members = { amountEuros, senderName: 'Payee', reference: 'Given back' }
        const made = await refundOwner(credit, members, book, context)
        sendAlong(book.post(sql))
        return reserved(made)
      },
      ...handingOver,
    },
    charge: {
      async reserve({ body: { fromOwnerId, ...body } }, { tenant }) {
        return {
          from: { ...tenant, ownerId: fromOwnerId },
          body: { ...body, amountEuros: String(body.amountEuros) },
        }
      },
      async call({ from, body }, { ports, requestId }) {
        const exact = { ...body, amountEuros: BigInt(body.amountEuros) }
        const taken = (await ports.runFor(from, 'payer.take', { body: exact }, requestId)) as { id: string }
        await finishHandOvers([{ id: taken.id, from }], { ports, requestId })
        return taken
      },
      record: async (taken: { id: string }) => taken,
      recover: async () => ({ id: 'credit_unknown' }),
    },
  }),
)

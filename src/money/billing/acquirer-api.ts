import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { get, post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros, signedEuros } from '../../values/money.ts'
import { recordFails } from '../ledger/index.ts'

const AcquirerRecord = z
  .object({
    currency: z.literal('EUR'),
    owedEuros: signedEuros.meta({
      description:
        'Charged to cards of your payers, and not paid to us by the acquirer yet. It is in your wallets already. Negative where refunds came after its payment: it keeps that back from the next one.',
    }),
  })
  .meta({ id: 'AcquirerAccount' })

const PaidEvent = z.object({
  payoutId: z.string().meta({ description: 'The acquirer’s reference.', examples: ['PAYOUT-2026-11-20'] }),
  amountEuros: euros,
  owedEuros: signedEuros,
})

export const acquirerApi = {
  acquirer: get('/billing/acquirer', {
    callers: ['key'],
    scope: 'billing:read',
    summary: 'How much the acquirer has yet to pay',
    returns: [200, AcquirerRecord],
  }),
  acquirerPaid: post('/billing/acquirer/payouts', {
    summary: 'Book what the acquirer has paid out',
    description:
      'For what has been charged to the cards of an owner’s payers. Nothing changes for the owner, who has the money already: what the platform has advanced comes back to it. The same reference counts once for each owner: with the same amount it is answered again, with another one it is refused.',
    callers: ['dash'],
    body: z.strictObject({
      ownerId: id('customer'),
      mode: z.enum(['test', 'live']).default('live'),
      amountEuros: positiveEuros(),
      reference: z
        .string()
        .trim()
        .min(1)
        .max(60)
        .meta({ description: 'As the acquirer numbers its payment.', examples: ['PAYOUT-2026-11-20'] }),
    }),
    example: {
      ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      mode: 'test',
      amountEuros: 50,
      reference: 'PAYOUT-2026-11-20',
    },
    returns: [200, AcquirerRecord],
    fails: {
      ...recordFails,
      above_owed: [400, 'amountEuros: the acquirer does not owe so much to this owner.'],
    },
    emits: { 'acquirer.paid': event('The acquirer has paid what it had charged to cards.', PaidEvent) },
  }),
}

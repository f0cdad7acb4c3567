import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, get, missing, post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { money, positiveMoney, signedMoney } from '../../values/money.ts'
import { recordFails } from '../ledger/index.ts'
import { paymentMethodsApi } from '../payment-methods/index.ts'
import { purseRefusal } from '../wallets/index.ts'

const currency = z.literal('EUR')

const ProcessorRecord = z
  .object({
    currency,
    balanceCents: money.meta({
      description:
        'Your deposit at the card processor. No payment by card is decided by it: cards are paid from wallets.',
    }),
  })
  .meta({ id: 'Processor' })

const fails = {
  wallet_not_found: missing('wallet'),
  wallet_closed: [400, 'The wallet is closed.'],
} as const satisfies Record<string, Failure>

const oldestOpenWallet = id('wallet')
  .nullable()
  .default(null)
  .meta({ description: 'Your oldest open wallet, if left out.' })

const DepositEvent = z.object({ walletId: id('wallet'), amountCents: money, balanceCents: money })

const reading = { callers: ['key'], scope: 'billing:read' } as const

export const billingApi = {
  ...paymentMethodsApi,
  balance: get('/billing/balance', {
    ...reading,
    summary: 'How much you have',
    description:
      'In all wallets together, the purses of cards among them, and what is still on its way into one.',
    returns: [
      200,
      z.object({
        currency,
        availableCents: money.meta({ description: 'What can be spent.' }),
        heldCents: money.meta({ description: 'Kept for payments that have been approved.' }),
        pendingCents: money.meta({ description: 'Fundings that are neither settled nor failed.' }),
        unassignedCents: money.meta({
          description: 'Come in for you, and not in a wallet yet: the operator assigns it.',
        }),
        owedCents: money.meta({
          description:
            'What you owe: fundings that were reversed after the money was spent. The next money that comes in repays it.',
        }),
        wallets: z.int().meta({ description: 'How many are open.' }),
      }),
    ],
  }),
  sepaDetails: get('/billing/sepa-details', {
    ...reading,
    summary: 'How to send money to a wallet by SEPA',
    description:
      'In test mode each wallet has an IBAN of its own. Live wallets share one: there the reference (ISO 11649) says which it is for, and must not be left out.',
    query: z.strictObject({
      walletId: id('wallet').optional().meta({ description: 'Your oldest open wallet, if left out.' }),
    }),
    returns: [
      200,
      z
        .object({
          walletId: id('wallet'),
          iban: z.string().meta({ examples: ['DE58999900010000000001'] }),
          bic: z.string().nullable(),
          holder: z.string().meta({ examples: ['Agent Payments'] }),
          reference: z.string().meta({ examples: ['RF540000000042'] }),
        })
        .meta({ id: 'SepaDetails' }),
    ],
    fails: {
      ...fails,
      wallet_of_card: purseRefusal('walletId'),
      no_account: [503, 'There is no account to which live money could be sent: COLLECTION_IBAN is not set.'],
    },
  }),
  processor: get('/billing/processor', {
    ...reading,
    summary: 'Get the deposit at the card processor',
    returns: [200, ProcessorRecord],
  }),
  fundProcessor: post('/billing/processor/fund', {
    summary: 'Move money from a wallet to the card processor',
    description:
      'For a processor that asks for a deposit. Cards do not need it: they are paid from the purse of the card, or from the agent’s wallet.',
    callers: ['key'],
    scope: 'billing:write',
    body: z.strictObject({
      fromWalletId: oldestOpenWallet,
      amountCents: positiveMoney(),
    }),
    example: { fromWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 50 },
    returns: [200, ProcessorRecord],
    fails: {
      ...fails,
      wallet_of_card: purseRefusal('fromWalletId'),
      wallet_frozen: [400, 'The wallet is frozen. Unfreeze it first.'],
      insufficient_funds: [400, 'The wallet’s available balance is too low.'],
    },
    emits: {
      'processor.funded': event('Money has been moved from a wallet to the card processor.', DepositEvent),
    },
  }),
  withdrawFromProcessor: post('/billing/processor/withdraw', {
    summary: 'Move money from the card processor back to a wallet',
    description: 'What lies at the processor and no more. A frozen wallet gets it too.',
    callers: ['key'],
    scope: 'billing:write',
    body: z.strictObject({ toWalletId: oldestOpenWallet, amountCents: positiveMoney() }),
    example: { toWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 50 },
    returns: [200, ProcessorRecord],
    fails: {
      ...fails,
      wallet_of_card: purseRefusal('toWalletId'),
      insufficient_funds: [400, 'There is not so much at the card processor.'],
    },
    emits: {
      'processor.withdrawn': event(
        'Money has been moved from the card processor back to a wallet.',
        DepositEvent,
      ),
    },
  }),
}

const AcquirerRecord = z
  .object({
    currency: z.literal('EUR'),
    owedCents: signedMoney.meta({
      description:
        'Charged to cards of your payers, and not paid to us by the acquirer yet. It is in your wallets already. Negative where refunds came after its payment: it keeps that back from the next one.',
    }),
  })
  .meta({ id: 'AcquirerAccount' })

const PaidEvent = z.object({
  payoutId: z.string().meta({ description: 'The acquirer’s reference.', examples: ['PAYOUT-2026-11-20'] }),
  amountCents: money,
  owedCents: signedMoney,
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
      amountCents: positiveMoney(),
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

import { z } from 'zod'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, positiveMoneySchema, signedMoneySchema } from '../../values/money.ts'
import { recordedPaymentRefusals } from '../ledger/index.ts'
import { paymentMethodsApi } from '../payment-methods/index.ts'
import { purseRefusal } from '../wallets/index.ts'

const currency = z.literal('EUR')

const ProcessorRecord = z
  .object({
    currency,
    balanceCents: moneySchema.meta({
      description:
        'Your deposit at the card processor. It does not affect card authorizations: cards are paid from wallets.',
    }),
  })
  .meta({ id: 'Processor' })

const fails = {
  wallet_not_found: notFound('wallet'),
  wallet_closed: [400, 'The wallet is closed.'],
} as const satisfies Record<string, RefusalSpec>

const oldestOpenWallet = id('wallet')
  .nullable()
  .default(null)
  .meta({ description: 'Defaults to your oldest open wallet.' })

const DepositEvent = z.object({ walletId: id('wallet'), amountCents: moneySchema, balanceCents: moneySchema })

const readers = operationsFor({ callers: ['key'], scope: 'billing:read' })

const writers = operationsFor({ callers: ['key'], scope: 'billing:write' })

export const billingApi = {
  ...paymentMethodsApi,
  balance: readers.get('/billing/balance', {
    summary: 'Get your balance',
    description: 'The total of all wallets, including the purses of cards, and pending fundings.',
    returns: [
      200,
      z.object({
        currency,
        availableCents: moneySchema.meta({ description: 'Amount that can be spent.' }),
        heldCents: moneySchema.meta({ description: 'Amount held for approved payments.' }),
        pendingCents: moneySchema.meta({
          description: 'Amount of fundings that are neither settled nor failed.',
        }),
        unassignedCents: moneySchema.meta({
          description: 'Amount received for you that must still be assigned to a wallet.',
        }),
        owedCents: moneySchema.meta({
          description:
            'Amount that you owe for fundings that were reversed after the money was spent. The next incoming money repays it.',
        }),
        wallets: z.int().meta({ description: 'Number of open wallets.' }),
      }),
    ],
  }),
  sepaDetails: readers.get('/billing/sepa-details', {
    summary: 'Get the account details for transfers to a wallet',
    description:
      'In test mode, each wallet has its own IBAN. Live wallets share one IBAN, and need the reference (ISO 11649) that names the wallet.',
    query: z.strictObject({
      walletId: id('wallet').optional().meta({ description: 'Defaults to your oldest open wallet.' }),
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
      no_account: [503, 'No account for live money is configured: set COLLECTION_IBAN.'],
    },
  }),
  processor: readers.get('/billing/processor', {
    summary: 'Get the deposit at the card processor',
    returns: [200, ProcessorRecord],
  }),
  fundProcessor: writers.post('/billing/processor/fund', {
    summary: 'Move money from a wallet to the card processor',
    description:
      'For a processor that requires a deposit. Cards do not need it: they are paid from the purse of the card, or from the agent’s wallet.',
    body: z.strictObject({
      fromWalletId: oldestOpenWallet,
      amountCents: positiveMoneySchema(),
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
      'processor.funded': declareEvent(
        'Money has been moved from a wallet to the card processor.',
        DepositEvent,
      ),
    },
  }),
  withdrawFromProcessor: writers.post('/billing/processor/withdraw', {
    summary: 'Move money from the card processor back to a wallet',
    description: 'Moves at most the deposit at the processor. A frozen wallet can receive it.',
    body: z.strictObject({ toWalletId: oldestOpenWallet, amountCents: positiveMoneySchema() }),
    example: { toWalletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', amountEuros: 50 },
    returns: [200, ProcessorRecord],
    fails: {
      ...fails,
      wallet_of_card: purseRefusal('toWalletId'),
      insufficient_funds: [400, 'amountEuros exceeds the deposit at the card processor. Move at most that.'],
    },
    emits: {
      'processor.withdrawn': declareEvent(
        'Money has been moved from the card processor back to a wallet.',
        DepositEvent,
      ),
    },
  }),
}

const AcquirerRecord = z
  .object({
    currency: z.literal('EUR'),
    owedCents: signedMoneySchema.meta({
      description:
        'Amount charged to your payers’ cards that the acquirer has not paid out yet. It is already in your wallets. Negative after refunds: the acquirer deducts it from its next payout.',
    }),
  })
  .meta({ id: 'AcquirerAccount' })

const PaidEvent = z.object({
  payoutId: z.string().meta({ description: 'The acquirer’s reference.', examples: ['PAYOUT-2026-11-20'] }),
  amountCents: moneySchema,
  owedCents: signedMoneySchema,
})

export const acquirerApi = {
  acquirer: readers.get('/billing/acquirer', {
    summary: 'Get the outstanding amount of the acquirer',
    returns: [200, AcquirerRecord],
  }),
  acquirerPaid: operator.post('/billing/acquirer/payouts', {
    summary: 'Record a payout of the acquirer',
    description:
      'A payout for charges of an owner’s payers. The owner has the money already, so the payout repays the platform’s advance. A reference counts once per owner: with the same amount the answer is repeated, with another amount it is refused.',
    body: z.strictObject({
      ownerId: id('customer'),
      mode: z.enum(['test', 'live']).default('live'),
      amountCents: positiveMoneySchema(),
      reference: z
        .string()
        .trim()
        .min(1)
        .max(60)
        .meta({ description: 'The acquirer’s reference of its payment.', examples: ['PAYOUT-2026-11-20'] }),
    }),
    example: {
      ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz',
      mode: 'test',
      amountEuros: 50,
      reference: 'PAYOUT-2026-11-20',
    },
    returns: [200, AcquirerRecord],
    fails: {
      ...recordedPaymentRefusals,
      above_owed: [400, 'amountEuros exceeds what the acquirer owes for this owner. Record at most that.'],
    },
    emits: { 'acquirer.paid': declareEvent('The acquirer has paid out card charges.', PaidEvent) },
  }),
}

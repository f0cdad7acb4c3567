import { z } from 'zod'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { doneSchema, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { cents, moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { recordHead, recordTimestamps, timeRangeMembers } from '../../values/schemas.ts'
import { IncomingCreditEvent } from '../incoming/index.ts'
import { purseRefusal, WalletEvent, WalletRecord } from '../wallets/index.ts'
import { fundingMachine } from './funding.ts'

const status = z.enum(fundingMachine.states)

const reason = z
  .object({ code: z.string().meta({ examples: ['insufficient_funds'] }), message: z.string() })
  .nullable()
  .meta({ description: 'Why the funding failed or was reversed.' })

export const FundingRecord = z
  .object({
    ...recordHead('funding'),
    walletId: id('wallet'),
    paymentMethodId: id('paymentmethod').nullable(),
    amountCents: moneySchema,
    status,
    reason,
    nextAction: z
      .object({ type: z.literal('redirect'), url: z.url() })
      .nullable()
      .meta({ description: 'The payer’s next step. Only while the status is `requires_action`.' }),
    settledAt: instant.nullable(),
    reversedAt: instant
      .nullable()
      .meta({ description: 'The time at which the payer’s bank reversed the funding.' }),
    reversedCents: moneySchema.nullable().meta({ description: 'All that it ever took.' }),
    reinstatedCents: moneySchema.nullable().meta({
      description: 'All of that which it gave back. A funding that it gave back whole is `reinstated`.',
    }),
    creditId: id('credit').nullable().meta({
      description: 'The incoming credit that holds the money, if the wallet was closed when it arrived.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'Funding' })

const FundedWallet = WalletRecord.extend({ funding: FundingRecord }).meta({ id: 'FundedWallet' })

const FundingEvent = z.object({
  fundingId: id('funding'),
  walletId: id('wallet'),
  paymentMethodId: id('paymentmethod').nullable(),
  status,
  amountCents: moneySchema,
  reason: z.string().optional(),
})

const outcomes = {
  'funding.pending': declareEvent(
    'The processor has accepted a funding, and its outcome is pending.',
    FundingEvent,
  ),
  'funding.requires_action': declareEvent('A funding needs a further step by the payer.', FundingEvent),
  'funding.settled': declareEvent('A funding has settled.', FundingEvent),
  'funding.failed': declareEvent('A funding has failed.', FundingEvent),
  'wallet.funded': declareEvent('A payment method has funded a wallet.', WalletEvent),
  'wallet.debited': WalletEvent,
  'incoming.received': IncomingCreditEvent,
}

const reversalEvents = {
  'funding.reversed': declareEvent(
    'The payer’s bank has reversed a funding.',
    FundingEvent.extend({
      owedCents: moneySchema.meta({
        description: 'The part that exceeded the wallet balance, which the owner now owes.',
      }),
    }),
  ),
  'wallet.debited': WalletEvent,
}

const chargeEvents = {
  ...outcomes,
  ...reversalEvents,
  'funding.reinstated': declareEvent(
    'The payer’s bank has given a reversed funding back, in part or whole.',
    FundingEvent.extend({ reinstatedCents: moneySchema.meta({ description: 'What it gave back now.' }) }),
  ),
}

const reversal = {
  body: z.strictObject({
    reason: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .meta({ examples: ['The cardholder disputes it.'] }),
  }),
  example: { reason: 'The cardholder disputes it.' },
  returns: [200, FundingRecord],
  emits: reversalEvents,
} as const

const reversalFails = {
  funding_not_found: notFound('funding'),
  funding_not_settled: [400, 'Only a settled funding can be reversed, and only once.'],
} as const satisfies Record<string, RefusalSpec>

const ask = {
  amountCents: positiveMoneySchema(cents(10_000_000n)),
  paymentMethodId: id('paymentmethod').nullable().default(null).meta({
    description:
      'The payment method to charge. Optional in test mode: without it, the wallet is credited without a charge.',
  }),
}

const fails = {
  wallet_not_found: notFound('wallet'),
  wallet_closed: [400, 'The wallet is closed.'],
  wallet_of_card: purseRefusal(),
  payment_method_not_found: notFound('payment method'),
  payment_failed: [402, 'The charge failed. No money was taken.'],
  live_rail_missing: [
    503,
    'Live money needs a payment method or a bank transfer: set paymentMethodId, or send it by SEPA to the account of GET /billing/sepa-details.',
  ],
} as const satisfies Record<string, RefusalSpec>

const howItWorks = [
  'The response is the wallet with its `funding`. `settled`: the money is in the wallet. `requires_action`: send the payer to `nextAction.url`. `pending`: the outcome follows as `wallet.funded` or `funding.failed`. A charge is made only once: if an answer is lost, the service asks the processor for the outcome, and never charges again.',
  'With a test payment method, the amount determines the outcome. € 13.01: fails, insufficient funds. € 13.02: fails, card expired. € 13.03: requires a further step within a day; complete it with `POST /simulate/funding/{fundingId}`. € 13.04: settles two days later. € 13.05: fails two days later. € 13.06: the processor does not answer, and the charge is found settled a minute later. € 13.07: the processor never answers, and the charge counts as lost after a day. Any other amount: settles at once. Move the clock with `POST /simulate/clock/advance`.',
].join('\n\n')

const funding = {
  description: howItWorks,
  callers: ['key'],
  scope: 'wallets:fund',
  run: 'external',
  requires: 'fundingRail',
  returns: [200, FundedWallet],
  fails,
  emits: {
    'funding.created': declareEvent('A funding has been requested.', FundingEvent),
    ...chargeEvents,
  },
} as const

const following = {
  callers: [],
  run: 'external',
  returns: [200, doneSchema],
  emits: chargeEvents,
} as const

const readers = operationsFor({ callers: ['key'], scope: 'billing:read' })
const sandbox = operationsFor({ callers: ['key'], scope: 'sandbox:write' })

export const fundingsApi = {
  create: post('/fund', {
    ...funding,
    summary: 'Fund one of your wallets',
    description:
      'Works like `POST /wallets/{id}/fund`, which explains the outcomes and the amounts of test payment methods.',
    body: z.strictObject({ walletId: id('wallet'), ...ask }),
    example: {
      walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 100,
      paymentMethodId: 'paymentmethod_01jd8x2m4ye7k9v0c3q5r6t8wz',
    },
  }),
  wallet: post('/wallets/{id}/fund', {
    ...funding,
    summary: 'Fund a wallet',
    tag: 'Wallets',
    body: z.strictObject(ask),
    example: { amountEuros: 100 },
  }),
  list: readers.list('/billing/fundings', {
    summary: 'List fundings',
    description: 'Newest first, with their status.',
    filters: { status: status.optional(), walletId: id('wallet').optional(), ...timeRangeMembers },
    item: FundingRecord,
  }),
  get: readers.getOne('/billing/fundings/{id}', 'a funding', FundingRecord, {
    funding_not_found: notFound('funding'),
  }),
  act: sandbox.post('/simulate/funding/{fundingId}', {
    summary: 'Complete the next step of a funding',
    description: 'Test mode only: simulates the payer at `nextAction.url`, who confirms or does not.',
    tag: 'Sandbox',
    body: z.strictObject({ outcome: z.enum(['settled', 'failed']).default('settled') }),
    example: { outcome: 'settled' },
    returns: [200, FundingRecord],
    fails: {
      test_mode_only: [400, 'Live payers complete the step themselves. Use a sandbox or test key.'],
      funding_not_found: notFound('funding'),
      no_action_required: [400, 'The funding does not need a step by the payer.'],
    },
    emits: outcomes,
  }),
  receive: post('/rails/funding', {
    summary: 'Receive a signed notice of the payment processor',
    description:
      'The webhook of the processor of payment methods. The signature over the raw body is verified first. A notice only says which charge may have changed: the service asks the processor for its state.',
    callers: ['signed'],
    body: z.strictObject({}),
    returns: [200, z.object({ taken: z.boolean() })],
    emits: chargeEvents,
  }),
  reverse: operator.post('/billing/fundings/{id}/reverse', {
    ...reversal,
    summary: 'Record a reversal of a funding',
    description:
      'A chargeback or a returned debit is never refused for lack of money: the owner owes the missing amount (`owedEuros` of `GET /billing/balance`), and the next incoming money repays it. Holds for payments stay.',
    fails: reversalFails,
  }),
  simulateReverse: sandbox.post('/simulate/funding/{fundingId}/reverse', {
    ...reversal,
    summary: 'Simulate a reversal of a funding',
    description: 'Test mode only: as if the payer’s bank had taken the money back.',
    tag: 'Sandbox',
    fails: {
      ...reversalFails,
      test_mode_only: [400, 'Only a bank reverses live fundings. Use a sandbox or test key.'],
    },
  }),
  follow: post('/fundings/{id}/follow', { ...following, summary: 'Ask the processor about a charge' }),
  noticed: post('/fundings/noticed', {
    ...following,
    summary: 'Ask the processor about a charge that may have changed',
    body: z.strictObject({ id: id('funding') }),
  }),
}

import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, get, list, missing, post } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { cents, money, positiveMoney } from '../../values/money.ts'
import { recordHead, recordTail, timeRange } from '../../values/schemas.ts'
import { IncomingEvent } from '../incoming/index.ts'
import { purseRefusal, WalletEvent, WalletRecord } from '../wallets/index.ts'
import { fundingMachine } from './funding.ts'

const status = z.enum(fundingMachine.states)

const reason = z
  .object({ code: z.string().meta({ examples: ['insufficient_funds'] }), message: z.string() })
  .nullable()
  .meta({ description: 'Why it has failed, or was drawn back.' })

export const FundingRecord = z
  .object({
    ...recordHead('funding'),
    walletId: id('wallet'),
    paymentMethodId: id('paymentmethod').nullable(),
    amountCents: money,
    status,
    reason,
    nextAction: z
      .object({ type: z.literal('redirect'), url: z.url() })
      .nullable()
      .meta({ description: 'What the payer has to do while it is `requires_action`.' }),
    settledAt: instant.nullable(),
    reversedAt: instant.nullable().meta({ description: 'When the payer’s bank has drawn it back.' }),
    creditId: id('credit').nullable().meta({
      description: 'Where the money waits if the wallet was closed when it came: an incoming credit.',
    }),
    ...recordTail,
  })
  .meta({ id: 'Funding' })

const FundedWallet = WalletRecord.extend({ funding: FundingRecord }).meta({ id: 'FundedWallet' })

const FundingEvent = z.object({
  fundingId: id('funding'),
  walletId: id('wallet'),
  paymentMethodId: id('paymentmethod').nullable(),
  status,
  amountCents: money,
  reason: z.string().optional(),
})

const outcomes = {
  'funding.pending': event(
    'The processor has taken a payment into a wallet and has not decided.',
    FundingEvent,
  ),
  'funding.requires_action': event(
    'A payment into a wallet needs a further step of the payer’s.',
    FundingEvent,
  ),
  'funding.settled': event('A payment into a wallet is done.', FundingEvent),
  'funding.failed': event('A payment into a wallet has come to nothing.', FundingEvent),
  'wallet.funded': event('A wallet has been filled by a payment method.', WalletEvent),
  'wallet.debited': WalletEvent,
  'incoming.received': IncomingEvent,
}

const reversal = {
  body: z.strictObject({
    reason: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .meta({ examples: ['The holder of the card disputes it.'] }),
  }),
  example: { reason: 'The holder of the card disputes it.' },
  returns: [200, FundingRecord],
  emits: {
    'funding.reversed': event(
      'The payer’s bank has drawn a payment into a wallet back.',
      FundingEvent.extend({
        owedCents: money.meta({ description: 'What the wallet did not have, and the owner owes now.' }),
      }),
    ),
    'wallet.debited': WalletEvent,
  },
} as const

const reversalFails = {
  funding_not_found: missing('funding'),
  funding_not_settled: [400, 'Only what is settled can be drawn back, and only once.'],
} as const satisfies Record<string, Failure>

const ask = {
  amountCents: positiveMoney(cents(10_000_000n)),
  paymentMethodId: id('paymentmethod').nullable().default(null).meta({
    description:
      'The payment method to charge. In test mode it can be left out: the wallet is credited without a charge.',
  }),
}

const fails = {
  wallet_not_found: missing('wallet'),
  wallet_closed: [400, 'The wallet is closed.'],
  wallet_of_card: purseRefusal(),
  payment_method_not_found: missing('payment method'),
  payment_failed: [402, 'The payment method was charged in vain. Nothing has been drawn.'],
  live_rail_missing: [
    503,
    'Live money comes in through a rail only: give a paymentMethodId, or send it by SEPA as GET /billing/sepa-details says.',
  ],
} as const satisfies Record<string, Failure>

const howItWorks = [
  'The response is the wallet with its `funding`. `settled`: the money is in the wallet. `requires_action`: send the payer to `nextAction.url`. `pending`: the outcome follows as `wallet.funded` or `funding.failed`. A charge is made once: if an answer is lost, the processor is asked about the charge, never charged again.',
  'With a payment method of test mode the amount decides. € 13.01: fails, not enough money. € 13.02: fails, the card has expired. € 13.03: needs a further step, within a day; take it by `POST /simulate/funding/{fundingId}`. € 13.04: settles two days later. € 13.05: fails two days later. € 13.06: the processor does not answer, and a minute later it turns out to be settled. € 13.07: it never answers, and after a day the charge is taken for lost. Any other amount: settled at once. Move time by `POST /simulate/clock/advance`.',
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
    'funding.created': event('A payment into a wallet has been asked for.', FundingEvent),
    ...outcomes,
  },
} as const

export const fundApi = {
  create: post('/fund', {
    ...funding,
    summary: 'Put money into a wallet of yours',
    body: z.strictObject({ walletId: id('wallet'), ...ask }),
    example: {
      walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 100,
      paymentMethodId: 'paymentmethod_01jd8x2m4ye7k9v0c3q5r6t8wz',
    },
  }),
  wallet: post('/wallets/{id}/fund', {
    ...funding,
    summary: 'Put money into a wallet',
    tag: 'Wallets',
    body: z.strictObject(ask),
    example: { amountEuros: 100 },
  }),
  list: list('/billing/fundings', {
    summary: 'List fundings',
    description: 'What was to be put into wallets, newest first, and what became of it.',
    callers: ['key'],
    scope: 'billing:read',
    filters: { status: status.optional(), walletId: id('wallet').optional(), ...timeRange },
    item: FundingRecord,
  }),
  get: get('/billing/fundings/{id}', {
    summary: 'Get a funding',
    callers: ['key'],
    scope: 'billing:read',
    returns: [200, FundingRecord],
    fails: { funding_not_found: missing('funding') },
  }),
  act: post('/simulate/funding/{fundingId}', {
    summary: 'Take the further step that a funding needs',
    description: 'Test mode only: as if the payer had been at `nextAction.url`, and had confirmed or not.',
    tag: 'Sandbox',
    callers: ['key'],
    scope: 'sandbox:write',
    body: z.strictObject({ outcome: z.enum(['settled', 'failed']).default('settled') }),
    example: { outcome: 'settled' },
    returns: [200, FundingRecord],
    fails: {
      test_mode_only: [400, 'Live payers take the step themselves: use a sandbox or test key.'],
      funding_not_found: missing('funding'),
      no_action_required: [400, 'The funding waits for no step of the payer.'],
    },
    emits: outcomes,
  }),
  reverse: post('/billing/fundings/{id}/reverse', {
    ...reversal,
    summary: 'Record that a funding was drawn back',
    description:
      'A chargeback or a returned debit is a fact, and is never refused for want of money: what the wallet does not have the owner owes (`owedEuros` of `GET /billing/balance`), and pays back with the next money that comes in. What is held for payments stays held.',
    callers: ['dash'],
    fails: reversalFails,
  }),
  simulateReverse: post('/simulate/funding/{fundingId}/reverse', {
    ...reversal,
    summary: 'Draw a funding back',
    description: 'Test mode only: as if the payer had gone to the bank and got the money back.',
    tag: 'Sandbox',
    callers: ['key'],
    scope: 'sandbox:write',
    fails: {
      ...reversalFails,
      test_mode_only: [400, 'Live money is drawn back by a bank only: use a sandbox or test key.'],
    },
  }),
  follow: post('/fundings/{id}/follow', {
    summary: 'Ask the processor what has become of a charge',
    callers: [],
    run: 'external',
    returns: [200, z.object({ done: z.boolean() })],
    emits: outcomes,
  }),
}

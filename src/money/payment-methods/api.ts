import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { del, doneSchema, emptyBody, list, notFound, post } from '../../kernel/contract/operation.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instrumentKinds } from '../../ports/funding-rail.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { labelSchema, patternTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { paymentMethodMachine } from './payment-method.ts'

const status = z.enum(paymentMethodMachine.states)
const kind = z.enum(instrumentKinds)

export const PaymentMethodRecord = z
  .object({
    ...recordHead('paymentmethod'),
    kind,
    brand: z
      .string()
      .nullable()
      .meta({ description: 'Of a card.', examples: ['visa'] }),
    last4: z.string().meta({ description: 'Last digits of the number, for display.', examples: ['4242'] }),
    holder: z.string(),
    status,
    removedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'PaymentMethod' })

const PaymentMethodEvent = z.object({
  paymentMethodId: id('paymentmethod'),
  status,
  kind,
  brand: z.string().nullable(),
  last4: z.string(),
})

const outside = {
  callers: ['key'],
  scope: 'billing:write',
  run: 'external',
  requires: 'fundingRail',
} as const

const processor_silent = [
  504,
  'The processor did not answer in time. Nothing was recorded: repeat it, with a new Idempotency-Key.',
] as const

export const paymentMethodsApi = {
  setUpPaymentMethod: post('/billing/payment-methods/setup', {
    ...outside,
    summary: 'Get a page for a card or bank account',
    description:
      'A person opens `url`, enters a card or bank account at the processor, and allows it to be charged later. Then add it with `token`. The page leads back to the console.',
    returns: [
      200,
      z
        .object({
          url: shownOnceSchema('https://checkout.stripe.com/c/pay/cs_live_a1'),
          token: z.string().meta({ description: 'For `POST /billing/payment-methods`.' }),
          expiresAt: instant,
        })
        .meta({ id: 'PaymentMethodSetup' }),
    ],
    fails: {
      processor_refused: [502, 'The processor refused it, and says why.'],
      processor_silent,
    },
    emits: {
      'payment_method.setup_created': declareEvent(
        'A page for a card or bank account has been made.',
        z.object({ setupId: id('setup'), expiresAt: instant }),
      ),
    },
  }),
  addPaymentMethod: post('/billing/payment-methods', {
    summary: 'Add a payment method',
    description: [
      'Uses the token of `POST /billing/payment-methods/setup`: the processor stores the number, and this service never sees it. A body with a card number is refused.',
      'Test tokens: `tok_visa`, `tok_mastercard`, `tok_sepa_debit`, and `tok_declined`, a card that declines every charge.',
    ].join('\n\n'),
    ...outside,
    body: refuseCardNumbers(
      z.strictObject({
        token: patternTextSchema(/^[\w-]{3,200}$/, 200, '3 to 200 letters, digits, `_` and `-`').meta({
          description: 'The processor’s token.',
          examples: ['tok_visa'],
        }),
        holder: labelSchema.meta({ description: 'The holder’s name.', examples: ['Ada Lovelace'] }),
      }),
    ),
    example: { token: 'tok_visa', holder: 'Ada Lovelace' },
    returns: [201, PaymentMethodRecord],
    fails: {
      token_unknown: [400, 'token: the processor does not know this token.'],
      setup_incomplete: [400, 'token: the person has not finished the page. Add it again once they have.'],
      processor_silent,
    },
    emits: { 'payment_method.created': declareEvent('A payment method has been added.', PaymentMethodEvent) },
  }),
  paymentMethods: list('/billing/payment-methods', {
    summary: 'List payment methods',
    description: 'Newest first. Removed ones are listed only with `status=removed`.',
    callers: ['key'],
    scope: 'billing:read',
    filters: { status: status.optional(), kind: kind.optional() },
    item: PaymentMethodRecord,
  }),
  removePaymentMethod: del('/billing/payment-methods/{id}', {
    summary: 'Remove a payment method',
    description:
      'The payment method is not charged again, and the processor forgets it. Pending charges are not affected.',
    ...outside,
    returns: [204, emptyBody],
    fails: { payment_method_not_found: notFound('payment method'), processor_silent },
    emits: {
      'payment_method.removed': declareEvent('A payment method has been removed.', PaymentMethodEvent),
    },
  }),
  erasePayer: post('/billing/payment-methods/{id}/erase', {
    summary: 'Have the processor erase the payer of a removed payment method',
    callers: [],
    run: 'external',
    requires: 'fundingRail',
    returns: [200, doneSchema],
    fails: { payment_method_not_found: notFound('payment method') },
    emits: {
      'payment_method.payer_erased': declareEvent(
        'The processor has erased the payer of a removed payment method.',
        PaymentMethodEvent,
      ),
    },
  }),
}

import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { del, emptyBody, list, notFound, post } from '../../kernel/contract/operation.ts'
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
    last4: z.string().meta({ description: 'The end of the number, for people.', examples: ['4242'] }),
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

export const paymentMethodsApi = {
  addPaymentMethod: post('/billing/payment-methods', {
    summary: 'Add a payment method',
    description: [
      'By the processor’s token: the processor stores the number, this service never sees it. A body with a card number is refused.',
      'Tokens of test mode: `tok_visa`, `tok_mastercard`, `tok_sepa_debit`, and `tok_declined`, a card that declines every charge.',
    ].join('\n\n'),
    callers: ['key'],
    scope: 'billing:write',
    run: 'external',
    requires: 'fundingRail',
    body: refuseCardNumbers(
      z.strictObject({
        token: patternTextSchema(/^[\w-]{3,200}$/, 200, '3 to 200 letters, digits, `_` and `-`').meta({
          description: 'Of the processor.',
          examples: ['tok_visa'],
        }),
        holder: labelSchema.meta({ description: 'The holder’s name.', examples: ['Ada Lovelace'] }),
      }),
    ),
    example: { token: 'tok_visa', holder: 'Ada Lovelace' },
    returns: [201, PaymentMethodRecord],
    fails: {
      token_unknown: [400, 'token: the processor does not know it.'],
      processor_silent: [
        504,
        'The processor did not answer in time. Nothing was recorded: add it again, with a new Idempotency-Key.',
      ],
    },
    emits: { 'payment_method.created': declareEvent('A payment method has been added.', PaymentMethodEvent) },
  }),
  paymentMethods: list('/billing/payment-methods', {
    summary: 'List payment methods',
    description: 'Newest first. Removed ones are left out unless `status=removed` asks for them.',
    callers: ['key'],
    scope: 'billing:read',
    filters: { status: status.optional(), kind: kind.optional() },
    item: PaymentMethodRecord,
  }),
  removePaymentMethod: del('/billing/payment-methods/{id}', {
    summary: 'Remove a payment method',
    description: 'It is not charged again. Pending charges are not affected.',
    callers: ['key'],
    scope: 'billing:write',
    returns: [204, emptyBody],
    fails: { payment_method_not_found: notFound('payment method') },
    emits: {
      'payment_method.removed': declareEvent('A payment method has been removed.', PaymentMethodEvent),
    },
  }),
}

import { defineEntity, p } from '@mikro-orm/core'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain, secret } from '../../kernel/database/personal.ts'
import { instrumentKinds } from '../../ports/funding-rail.ts'

export const paymentMethodMachine = stateMachine('payment_method', {
  active: ['removed'],
  removed: [],
})

const schema = defineEntity({
  ...tenantTable('PaymentMethod', 'payment_methods'),
  properties: {
    ...recordColumns('paymentmethod'),
    kind: plain(p.enum(instrumentKinds)),
    brand: personal(nullable.string(), 'account', 'payments', 'word'),
    last4: personal(p.text(), 'account', 'payments', { value: '0000' }),
    holder: personal(p.text(), 'name', 'payments', 'word'),
    /** The processor's name for the number, which this service never sees. */
    token: secret(p.text()),
    status: p.enum(paymentMethodMachine.states).onCreate(() => paymentMethodMachine.initial),
    removedAt: nullable.instant(),
    /** When the processor is to erase the payer of a removed one; null once it has. */
    eraseAt: nullable.instant(),
  },
})

export class PaymentMethod extends schema.class {}
schema.setClass(PaymentMethod)

export const payerErasure: Deadline = {
  process: { name: 'payment-method' },
  table: 'payment_methods',
  due: 'erase_at',
  open: 'erase_at is not null',
  operations: ['billing.erasePayer'],
}

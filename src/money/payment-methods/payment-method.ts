import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { instrumentKinds } from '../../ports/funding-rail.ts'

export const paymentMethodMachine = stateMachine('payment_method', {
  active: ['removed'],
  removed: [],
})

const schema = defineEntity({
  ...tenantTable('PaymentMethod', 'payment_methods'),
  properties: {
    ...recordColumns('paymentmethod'),
    kind: p.enum(instrumentKinds),
    brand: nullable.string(),
    last4: p.text(),
    holder: p.text(),
    /** The processor's name for the number, which this service never sees. */
    token: p.text(),
    status: p.enum(paymentMethodMachine.states).onCreate(() => paymentMethodMachine.initial),
    removedAt: nullable.instant(),
  },
})

export class PaymentMethod extends schema.class {}
schema.setClass(PaymentMethod)

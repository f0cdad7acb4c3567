import { area } from '../../kernel/area.ts'
import { creditMachine, IncomingCredit } from './incoming-credit.ts'
import { PaymentMethod, paymentMethodMachine } from './payment-method.ts'
import { paymentMethods } from './payment-methods.ts'

export const billingArea = area('Billing', 'How money comes in, and how much there is.', paymentMethods, {
  entities: [PaymentMethod, IncomingCredit],
  machines: [paymentMethodMachine, creditMachine],
})

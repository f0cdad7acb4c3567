import { area } from '../../kernel/area.ts'
import { PaymentMethod, paymentMethodMachine } from './payment-method.ts'
import { paymentMethods } from './payment-methods.ts'

export const billingArea = area('Billing', 'How money comes in, and how much there is.', paymentMethods, {
  entities: [PaymentMethod],
  machines: [paymentMethodMachine],
})

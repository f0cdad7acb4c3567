export { paymentMethodsApi } from './api.ts'
export { PaymentMethod, payerErasure, paymentMethodMachine } from './payment-method.ts'
export { paymentMethodHandlers } from './payment-methods.ts'

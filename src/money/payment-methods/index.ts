export { paymentMethodsApi } from './api.ts'
export { PaymentMethod, payerErasure, paymentMethodMachine } from './payment-method.ts'
export { paymentMethodHandlers, pendingCharges } from './payment-methods.ts'

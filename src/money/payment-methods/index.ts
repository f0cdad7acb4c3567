export { paymentMethodsApi } from './api.ts'
export { PaymentMethod, paymentMethodMachine } from './payment-method.ts'
export { paymentMethods } from './payment-methods.ts'

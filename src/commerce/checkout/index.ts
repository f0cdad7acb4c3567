export { checkoutApi } from './api.ts'

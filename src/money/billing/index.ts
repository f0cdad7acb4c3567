export { billingApi } from './api.ts'

export { acquirerApi } from './acquirer-api.ts'
export { billingApi } from './api.ts'

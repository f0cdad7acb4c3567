export { acquirerApi, billingApi } from './api.ts'

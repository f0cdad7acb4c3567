export { refundsApi } from './api.ts'

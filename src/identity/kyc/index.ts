export { kycApi } from './api.ts'

export { receiptsApi } from './api.ts'

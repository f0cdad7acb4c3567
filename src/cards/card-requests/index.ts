export { cardRequestsApi } from './api.ts'

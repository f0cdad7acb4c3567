export { changeRequestsApi } from './api.ts'

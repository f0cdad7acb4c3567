export { changeRequestsApi } from './api.ts'
export { readWaitingChange } from './change-requests.ts'

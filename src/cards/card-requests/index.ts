export { readPendingCardRequest } from './answer.ts'
export { cardRequestSteps, cardRequestsApi } from './api.ts'
export { cardRequestStatus, expireCardRequest } from './card-requests.ts'
export { carryOutApproval } from './carry-out.ts'

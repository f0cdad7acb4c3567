export { delegationRevokedEvent, delegationsApi } from './api.ts'
export { type DelegationLimit, delegationLimits } from './delegation.ts'

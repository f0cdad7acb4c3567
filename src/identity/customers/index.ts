export {
  CustomerEvent,
  CustomerJoin,
  CustomerRecord,
  changeEvents,
  customersApi,
  verifiedEvents,
} from './api.ts'
export { type Customer, type KycStatus, PLATFORM_OWNER } from './customer.ts'
export {
  addCustomer,
  closeForDeletion,
  customerEvent,
  findCustomer,
  forgottenOwners,
  holderNames,
  resumeAfterDeletion,
  suspendForDeletion,
} from './customers.ts'
export { lockHolder, moveKyc, verifyHolder } from './kyc-status.ts'

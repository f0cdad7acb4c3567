export {
  CustomerEvent,
  CustomerJoin,
  CustomerRecord,
  changeEvents,
  customersApi,
  verifiedEvents,
} from './api.ts'
export { type Customer, type KycStatus, PLATFORM_OWNER } from './customer.ts'
export { addCustomer, customerEvent, findCustomer, moveCustomer } from './customers.ts'
export { holderNames } from './holder-names.ts'
export { lockHolder, moveKyc, verifyHolder } from './kyc-status.ts'

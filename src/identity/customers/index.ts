export {
  CustomerCreateBody,
  CustomerEvent,
  CustomerRecord,
  customerChangeEvents,
  customersApi,
  customerVerifiedEvents,
} from './api.ts'
export { type Customer, type KycStatus, PLATFORM_OWNER_ID } from './customer.ts'
export {
  addCustomer,
  closeCustomerForDeletion,
  countCustomers,
  customerEvent,
  findCustomer,
  findForgottenOwners,
  hasCustomerAfterLock,
  readHolderNames,
  resumeCustomerAfterDeletion,
  suspendCustomerForDeletion,
} from './customers.ts'
export { lockAccountHolder, moveKycStatus, verifyAccountHolder } from './kyc-status.ts'
export {
  MAX_PEOPLE,
  Person,
  personEvent,
  personMachine,
  personRoles,
  readActivePeople,
  readPerson,
} from './person.ts'

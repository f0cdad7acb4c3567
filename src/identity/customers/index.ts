export { CustomerEvent, CustomerJoin, CustomerRecord } from './api.ts'
export { PLATFORM_OWNER } from './customer.ts'
export { addCustomer, customerEvent, findCustomer } from './customers.ts'
export { holderNames } from './holder-names.ts'

export { CustomerEvent, CustomerJoin, CustomerRecord } from './api.ts'
export { HOUSE } from './customer.ts'
export { addCustomer, customerEvent, findCustomer } from './customers.ts'

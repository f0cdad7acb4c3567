export { courseEvents } from './schemas.ts'
export { type Paid, paymentsUnder, takeNotice } from './sepa/rail-notices.ts'

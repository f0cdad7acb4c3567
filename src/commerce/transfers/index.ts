export { type Paid, paymentsUnder, takeNotice } from './rail-notices.ts'
export { courseEvents } from './schemas.ts'

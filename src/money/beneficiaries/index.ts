export { type Payable, payableOf } from './beneficiaries.ts'

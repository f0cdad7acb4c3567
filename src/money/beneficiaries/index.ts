export { type PayeeRow, payeesById } from './beneficiaries.ts'

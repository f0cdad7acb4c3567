export { beneficiariesApi } from './api.ts'
export { type PayeeRow, payeesById } from './beneficiaries.ts'

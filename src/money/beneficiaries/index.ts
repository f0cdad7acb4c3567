export { beneficiariesApi } from './api.ts'
export { type BeneficiaryRow, beneficiariesById } from './beneficiaries.ts'

export { beneficiariesApi, beneficiaryNameSchema } from './api.ts'
export { type BeneficiaryRow, beneficiariesById } from './beneficiaries.ts'

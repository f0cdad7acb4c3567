export { type CredentialCharges, openCredentialCharges } from './charges.ts'
export { chargeEvents } from './schemas.ts'

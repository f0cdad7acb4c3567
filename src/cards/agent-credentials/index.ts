export { type CredentialCharges, openCredentialCharges } from './charges.ts'

export { type CredentialCharges, openCredentialCharges } from './charges.ts'
export { noteDeletion, tokenToDelete } from './delete-mpp-token.ts'
export { mppTokenEvents, registerMppToken, revokeMppToken } from './mpp-token.ts'
export { chargeEvents } from './schemas.ts'

export { AgentCredential } from './agent-credential.ts'
export { agentCredentialsApi, chargeEvents } from './api.ts'
export { type CredentialCharges, openCredentialCharges } from './charges.ts'
export { mppTokenEvents, noteDeletion, registerMppToken, revokeMppToken, tokenToDelete } from './mpp-token.ts'

export { AgentCredential } from './agent-credential.ts'
export { agentCredentialChargeEvents, agentCredentialsApi } from './api.ts'
export { loadNetworkTokenCharges, type NetworkTokenCharges } from './charges.ts'
export {
  mppTokenEvents,
  networkTokenToDelete,
  recordTokenDeletion,
  registerMppToken,
  revokeMppToken,
} from './mpp-token.ts'

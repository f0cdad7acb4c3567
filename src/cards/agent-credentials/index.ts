export { AgentCredential } from './agent-credential.ts'
export { agentCredentialChargeEvents, agentCredentialsApi } from './api.ts'
export { lockNetworkTokenCharges, type NetworkTokenCharges, readNetworkTokenCharges } from './charges.ts'
export {
  activateMppToken,
  mppTokenEvents,
  recordTokenDeletion,
  registerMppToken,
  revokeMppToken,
  tokenToDelete,
} from './mpp-token.ts'

export { cliAuthApi } from './api.ts'
export { closedReason, findPairing } from './pairing.ts'

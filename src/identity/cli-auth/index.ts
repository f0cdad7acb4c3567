export { cliAuthApi } from './api.ts'
export { findPairing, pairingClosedReason } from './pairing.ts'

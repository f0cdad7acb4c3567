export { cliAuthApi } from './api.ts'
export { findPairing, whyClosed } from './pairing.ts'

export { cliAuthApi } from './api.ts'
export { findPairing, whyClosed } from './find.ts'

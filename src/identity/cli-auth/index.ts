export { findPairing, whyClosed } from './find.ts'

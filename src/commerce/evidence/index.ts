export { evidenceApi } from './api.ts'
export { findEvidence } from './find.ts'
export type { Evidence } from './piece.ts'

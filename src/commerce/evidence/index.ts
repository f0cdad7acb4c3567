export { evidenceApi } from './api.ts'
export { type Evidence, findEvidence } from './evidence-item.ts'

export { mandatesApi } from './api.ts'
export { ExhaustedMandates } from './exhausted.ts'
export { AgentMandates } from './open-mandates.ts'
export { mandateExhausted } from './schemas.ts'

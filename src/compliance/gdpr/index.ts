export { consentApi } from './consent-api.ts'
export { deletionApi } from './deletion-api.ts'
export { exportApi } from './export-api.ts'

export { consentApi } from './consent-api.ts'
export { dataDeletionApi } from './deletion-api.ts'
export { dataExportApi } from './export-api.ts'

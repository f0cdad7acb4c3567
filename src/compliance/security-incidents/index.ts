export { incidentSteps } from './api.ts'
export { incidentStatus, sendDueReminder } from './remind.ts'

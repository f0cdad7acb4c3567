export { eventsApi } from './api.ts'
export { eventNameProblem, eventNamesProblem, unknownEventFailure } from './event-names.ts'

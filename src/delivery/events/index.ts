export { eventsApi } from './api.ts'
export { eventNameProblem, eventNamesProblem, unknownEventRefusal } from './event-names.ts'

export { eventsApi } from './api.ts'
export { eventNameProblem, eventNamesProblem, unknownEventRefusal } from './event-names.ts'
export { type EventStreams, type EventStreamTimes, eventStreams } from './event-streams.ts'

export { eventNameProblem, eventNamesProblem, unknownEventFailure } from './event-names.ts'

export { denialOf, grant } from './access-decision.ts'
export { accessEventsApi } from './api.ts'
export {
  callOf,
  type DisclosureRequest,
  disclose,
  disclosureRequest,
  recordDisclosed,
  recordLost,
  recordOutcome,
  redeem,
} from './disclosure.ts'
export { accessRefusals, subjectRefusals } from './refusals.ts'
export { accessEvents, denialEvents, keyThumbprint } from './schemas.ts'
export { type AccessSubject, chosenCard, chosenCards, openSubject, openSubjects } from './subject.ts'

export { denialOf, grant } from './access-decision.ts'
export {
  accessEvents,
  accessEventsApi,
  accessRefusals,
  denialEvents,
  keyThumbprint,
  subjectRefusals,
} from './api.ts'
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
export { type AccessSubject, chosenCard, chosenCards, openSubject, openSubjects } from './subject.ts'

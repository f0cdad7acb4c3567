export { accessEventsApi } from './api.ts'
export { chosenCard, chosenCards } from './chosen-card.ts'
export {
  callOf,
  type DisclosureRequest,
  disclose,
  disclosureRequest,
  recordDisclosed,
  recordLost,
  recordOutcome,
} from './disclosure.ts'
export { denialOf, grant } from './record-ask.ts'
export { redeem } from './redemption.ts'
export { accessRefusals, subjectRefusals } from './refusals.ts'
export { accessEvents, denialEvents, keyThumbprint } from './schemas.ts'
export { type AccessSubject, openSubject } from './subject.ts'
export { openSubjects } from './subjects.ts'

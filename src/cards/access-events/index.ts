export { denyCardAccess, grantCardAccess } from './access-decision.ts'
export {
  accessDenialEvents,
  accessEvents,
  accessEventsApi,
  accessRefusals,
  accessSubjectRefusals,
  keyThumbprint,
} from './api.ts'
export {
  type DisclosureRequest,
  discloseCardData,
  disclosureCall,
  disclosureRequest,
  recordDisclosure,
  recordDisclosureOutcome,
  recordLostDisclosure,
  redeemCardAccess,
} from './disclosure.ts'
export {
  type AccessSubject,
  cardIdForIntent,
  cardIdsForIntents,
  loadAccessSubject,
  loadAccessSubjects,
} from './subject.ts'
export { loadCardDataSubject } from './token-cards.ts'

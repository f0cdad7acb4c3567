export { peopleApi, recoveryApi } from './api.ts'
export { replacePersonLink } from './link.ts'
export { consumeOwnerConsent, exceedsKeyScopes, verifyOwnerConsent } from './owner-consent.ts'
export { findPerson } from './people.ts'
export { Person } from './person.ts'
export { lockPerson } from './recover.ts'
export { hasPeople, redeemPersonLink } from './redeem.ts'
export {
  newLinkRemedy,
  personEvents,
  personLinkEvents,
  personLinkRefusals,
  personRoleSchema,
} from './schemas.ts'

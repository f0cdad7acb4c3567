export { peopleApi, recoveryApi, recoverySteps } from './api.ts'
export { assignRole, changePerson, type PersonWrite } from './change.ts'
export { inviteByLink, makeJoinLink } from './invite.ts'
export { replacePersonLink } from './link.ts'
export { forgetEmailedLink, readEmailedLink } from './link-email.ts'
export {
  consumeOwnerConsent,
  exceedsKeyScopes,
  type OwnerConsent,
  verifyOwnerConsent,
} from './owner-consent.ts'
export { findPerson } from './people.ts'
export { advanceRecovery, lockPerson, recoveryStatus } from './recover.ts'
export { isBeingRecovered } from './recoveries.ts'
export { acceptInvitationByEmail, hasPeople, redeemPersonLink } from './redeem.ts'
export {
  newLinkRemedy,
  personEvents,
  personLinkEvents,
  personLinkRefusals,
  personRoleSchema,
} from './schemas.ts'

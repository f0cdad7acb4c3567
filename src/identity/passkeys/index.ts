export { passkeysApi } from './api.ts'
export { burnAssertion, verifyAssertion } from './assertions.ts'
export { grantEnrolment, lockPasskeys, passkeySummary, revokeAllOf } from './authority.ts'
export {
  burnChallenge,
  decideAssertion,
  type LockedChallenges,
  lockChallenges,
  writeAssertions,
} from './decide-assertions.ts'
export { openChallenge } from './open-challenge.ts'
export { type CheckedAssertion, readAssertions, type VerifiedAssertion } from './read-assertions.ts'
export {
  type AssertionCode,
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  type Envelope,
  passkeyEvents,
  RequestOptions,
  scope_not_held,
  webauthnAssertion,
} from './schemas.ts'
export { openSignInChallenge, verifySignIn } from './sign-in.ts'

export { passkeysApi } from './api.ts'
export { burnAssertion, verifyAssertion } from './assertions.ts'
export { grantEnrolment, lockPasskeys, passkeyStanding, revokeAllOf } from './authority.ts'
export { burn, judge, type LockedChallenges, lockChallenges, writeAssertions } from './judge.ts'
export { openChallenge } from './open-challenge.ts'
export { type Checked, readAssertions, type Verified } from './read-assertions.ts'
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

export { burnAssertion, verifyAssertion } from './assertions.ts'
export { grantEnrolment } from './authority.ts'
export {
  burn,
  type Emitting,
  type Expected,
  judge,
  type LockedChallenges,
  lockChallenges,
  writeAssertions,
} from './judge.ts'
export { type Opening, openChallenge } from './open-challenge.ts'
export type { Algorithm, PublicJwk } from './passkey.ts'
export { type Checked, type Holder, readAssertions, type Verified } from './read-assertions.ts'
export {
  type AssertionCode,
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  type Envelope,
  passkeyEvents,
  RequestOptions,
  StatementRecord,
  webauthnAssertion,
} from './schemas.ts'
export { openSignInChallenge, type SignedIn, verifySignIn } from './sign-in.ts'
export { lockPasskeys, type PasskeyStanding, passkeyStanding, revokeAllOf } from './standing.ts'

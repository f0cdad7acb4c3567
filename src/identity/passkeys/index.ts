export { passkeysApi } from './api.ts'
export { consumeAssertion, verifyAssertion } from './assertions.ts'
export {
  endEnrolmentGrants,
  grantEnrolment,
  lockPasskeys,
  passkeySummary,
  revokePasskeysOfPerson,
} from './authority.ts'
export { keyNames, linkSubject, providers } from './challenge-purposes.ts'
export {
  consumeChallenge,
  decideAssertion,
  type LockedPasskeyChallenges,
  lockPasskeyChallenges,
  writeAssertionUse,
} from './decide-assertions.ts'
export { openPasskeyChallenge } from './open-challenge.ts'
export { Passkey } from './passkey.ts'
export { type CheckedAssertion, readAssertions, type VerifiedAssertion } from './read-assertions.ts'
export {
  type AssertionRefusalCode,
  assertionEvents,
  assertionRefusals,
  ChallengeRecord,
  PasskeyRequestOptions,
  passkeyEvents,
  scopeNotHeldRefusal,
  type WebauthnAssertion,
  webauthnAssertionSchema,
} from './schemas.ts'
export { openSignInChallenge, verifySignIn } from './sign-in.ts'
export {
  approverOfWidening,
  linkingChallenge,
  refuseUnsignedWidening,
  signerOfWidening,
  widening,
  wideningBySeveral,
} from './widening.ts'

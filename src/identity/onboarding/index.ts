export type { IdentityStatus } from './company-people.ts'
export {
  type FoundRepresentative,
  findRepresentative,
  missingForCompany,
  noteIdentity,
} from './identities.ts'
export { OnboardingEvent, onboardingEvents } from './schemas.ts'

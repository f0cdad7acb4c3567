export { onboardingApi } from './api.ts'
export { findCompany } from './find.ts'
export { findRepresentative, missingForCompany, recordIdentity } from './identities.ts'
export { OnboardingEvent } from './schemas.ts'

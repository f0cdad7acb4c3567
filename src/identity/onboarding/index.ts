export { onboardingApi } from './api.ts'
export { findOnboardedCompany } from './find.ts'
export { findRepresentative, missingCompanyItems, recordIdentityStatus } from './identities.ts'
export { OnboardingEvent } from './schemas.ts'

export { onboardingApi } from './api.ts'
export { findRepresentative, missingForCompany, noteIdentity } from './identities.ts'
export { OnboardingEvent } from './schemas.ts'
export { findCompany } from './verified-company.ts'

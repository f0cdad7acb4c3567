import { withMembers } from '../../kernel/database/entity.ts'
import type { Submission } from './find.ts'
import { missingOf } from './missing.ts'

/** An onboarding as the API shows it: with its people, and what is still missing. */
export const onboardingResponse = ({ onboarding, representatives, beneficialOwners }: Submission) =>
  withMembers(onboarding, {
    missing: missingOf(onboarding, representatives),
    representatives,
    beneficialOwners,
    informationRequests: [...onboarding.informationRequests],
  })

export const onboardingEvent = ({ onboarding: { id, ownerId, status }, representatives }: Submission) => ({
  onboardingId: id,
  customerId: ownerId,
  status,
  representativeIds: representatives.map(({ id }) => id),
})

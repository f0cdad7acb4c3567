import { type Reaction, reaction } from '../../kernel/contract/area.ts'
import { type KycStatus, lockHolder, moveKyc, verifiedEvents, verifyHolder } from '../customers/index.ts'
import { findCompany, OnboardingEvent } from '../onboarding/index.ts'

/** Where the account of a company stands, by the status of its onboarding. */
const kycStatuses: Readonly<Record<string, KycStatus>> = {
  submitted: 'pending',
  in_review: 'in_review',
  needs_information: 'in_review',
  approved: 'verified',
  rejected: 'rejected',
  withdrawn: 'none',
  expired: 'none',
}

const follow: Reaction = reaction(OnboardingEvent, verifiedEvents, async (told, context) => {
  const to = kycStatuses[told.status]
  if (!to) return
  const customer = await lockHolder(context.records, told.customerId)
  if (to !== 'verified') moveKyc(customer, to)
  else verifyHolder(customer, await findCompany(told.onboardingId, context), context)
})

export const onboardingReactions: Readonly<Record<string, Reaction>> = {
  'onboarding.submitted': follow,
  'onboarding.in_review': follow,
  'onboarding.information_requested': follow,
  'onboarding.approved': follow,
  'onboarding.rejected': follow,
  'onboarding.withdrawn': follow,
  'onboarding.expired': follow,
}

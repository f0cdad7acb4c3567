import type { WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { newId } from '../../values/ids.ts'
import { findCustomer } from '../customers/index.ts'
import { wakeOnboardingProcess } from './advance.ts'
import type { onboardingApi } from './api.ts'
import { Onboarding, OPEN_ONBOARDING_STATUSES } from './company-onboarding.ts'
import { BeneficialOwner, implausibleBirthDate, Representative } from './company-people.ts'
import { type OnboardingWithPeople, onboardingEvent, onboardingResponse } from './find.ts'
import { onboardingProcess } from './process.ts'

/** Locks the tenant, so that it never has two open submissions. */
export const submitOnboarding: HandlerOf<typeof onboardingApi.create> = async ({ body }, context) => {
  const { em, tenant, now, emit, refuse } = context
  const unlikely = implausibleBirthDate(body, now)
  if (unlikely) return refuse('birth_unlikely', unlikely)
  const [, customer, open] = await Promise.all([
    lockTenant(context, 'onboarding'),
    findCustomer(em, tenant.ownerId),
    em.findOne(Onboarding, { status: { $in: OPEN_ONBOARDING_STATUSES } }),
  ])
  if (customer.type !== 'business') return refuse('business_only')
  if (open)
    return refuse('onboarding_under_way', `An onboarding is already open: see GET /onboarding/${open.id}.`)
  const submission = submit(body, context)
  emit('onboarding.submitted', onboardingEvent(submission))
  wakeOnboardingProcess(submission, context)
  return onboardingResponse(submission)
}

type Body = InputOf<typeof onboardingApi.create>['body']

function submit(
  { representatives, beneficialOwners, ...members }: Body,
  { em }: WriteContext,
): OnboardingWithPeople {
  const id = newId('onboarding')
  return {
    onboarding: em.create(Onboarding, {
      ...members,
      id,
      workflowId: workflowIdOf(onboardingProcess, id),
    }),
    representatives: representatives.map((person, ordinal) =>
      em.create(Representative, { ...person, onboardingId: id, ordinal }),
    ),
    beneficialOwners: beneficialOwners.map((person, ordinal) =>
      em.create(BeneficialOwner, { ...person, onboardingId: id, ordinal }),
    ),
  }
}

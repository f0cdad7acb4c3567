import { z } from 'zod'
import { get, post } from '../../kernel/contract/operation.ts'
import { ProcessStatusRecord } from '../../values/schemas.ts'
import { onboardingEvents, onboardingFails } from './schemas.ts'

const { onboarding_not_found } = onboardingFails

/** What the process of an onboarding does. */
export const onboardingSteps = {
  /** The process reads this whenever the onboarding has changed. */
  status: get('/onboarding/{id}/status', {
    readsClock: true,
    summary: 'Get the status of an onboarding’s process',
    callers: [],
    returns: [200, ProcessStatusRecord],
    fails: { onboarding_not_found },
  }),
  /** Changes nothing before its time, by the tenant's clock, and nothing when it is repeated. */
  advance: post('/onboarding/{id}/advance', {
    summary: 'Take an onboarding into review, or expire it',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    fails: { onboarding_not_found },
    emits: {
      'onboarding.in_review': onboardingEvents['onboarding.in_review'],
      'onboarding.expired': onboardingEvents['onboarding.expired'],
    },
  }),
}

import { onboardingProcess } from '../src/identity/onboarding/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/** A company is reviewed once its persons are verified. Questions are answered in time, or it expires. */
export const onboarding = followRecord(
  onboardingProcess,
  async (record: FollowedRecord<ProcessStatus>, steps) => {
    await record.during({ status: 'submitted' }, steps.advanceOnboarding)
    await record.during({ status: 'in_review' }, async () => undefined)
    await record.during({ status: 'needs_information' }, steps.advanceOnboarding)
  },
)

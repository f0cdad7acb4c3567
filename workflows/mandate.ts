import { mandateProcess } from '../src/control/mandates/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/** A mandate is active, possibly suspended for a while, until it is revoked, exhausted or expired. */
export const mandate = followRecord(mandateProcess, async (record: FollowedRecord<ProcessStatus>, steps) => {
  const isInForce = ({ status }: ProcessStatus) => status === 'active' || status === 'suspended'
  await record.during(isInForce, steps.expireMandate)
})

import { type KycProcessStatus, kycProcess } from '../src/identity/kyc/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/**
 * The provider gets a person's data and documents, and is asked until it has decided. If it never does, or if
 * there is none, an operator decides.
 */
export const kyc = followRecord(kycProcess, async (record: FollowedRecord<KycProcessStatus>, steps) => {
  await record.during({ next: 'submit' }, steps.submitIdentity)
  await record.during({ next: 'inquire' }, steps.askProvider)
})

import { type KycStatus, kycProcess } from '../src/identity/kyc/process.ts'
import { type Followed, followRecord } from './shared/follow-record.ts'

/**
 * The provider gets the data and documents of a person, and is asked until it has decided. Where it never does, or where
 * there is none, the operator decides.
 */
export const kyc = followRecord(kycProcess, async (record: Followed<KycStatus>, steps) => {
  await record.during({ next: 'submit' }, steps.submitIdentity)
  await record.during({ next: 'inquire' }, steps.askProvider)
})

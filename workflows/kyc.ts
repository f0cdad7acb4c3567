import { type KycStatus, kycProcess } from '../src/identity/kyc/process.ts'
import { type Followed, followRecord } from './shared/follow-record.ts'

/**
 * The provider gets a person's data and documents, and is asked until it has decided. If it never does, or if
 * there is none, an operator decides.
 */
export const kyc = followRecord(kycProcess, async (record: Followed<KycStatus>, steps) => {
  await record.during({ next: 'submit' }, steps.submitIdentity)
  await record.during({ next: 'inquire' }, steps.askProvider)
})

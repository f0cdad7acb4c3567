import { type KycStatus, kycProcess } from '../src/identity/kyc/process.ts'
import { type Followed, followRecord } from './shared/follow-record.ts'

/**
 * The provider gets a person's data and documents and is polled until it decides. Without a provider, or
 * without its answer, the operator decides.
 */
export const kyc = followRecord(kycProcess, async (record: Followed<KycStatus>, steps) => {
  await record.during({ next: 'submit' }, steps.submitIdentity)
  await record.during({ next: 'inquire' }, steps.askProvider)
})

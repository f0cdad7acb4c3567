import type { KycActivities } from '../activities/kyc.ts'
import { kycProcess } from '../src/identity/kyc/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readIdentityCheck, submitIdentity, askProvider } = activities<KycActivities>({
  readIdentityCheck: reading('Status of the identity check'),
  submitIdentity: call('Send data and documents to the provider, which checks each reference once'),
  askProvider: call('Ask the provider for its decision'),
})

/**
 * The provider gets a person's data and documents, and is asked until it has decided. If it never does, or if
 * there is none, an operator decides.
 */
export async function kyc(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: kycProcess, read: readIdentityCheck })
  while (!record.isOver) {
    const { status, isSubmitted, deadline } = record.state
    const inquiry = `the next inquiry is at ${deadline}`
    if (deadline === null) await record.waitFor('the operator to decide')
    else if (status === 'in_review')
      await record.waitFor(`the provider to decide; ${inquiry}`, { whenDue: askProvider })
    else if (isSubmitted)
      await record.waitFor(`the provider to answer; ${inquiry}`, { whenDue: submitIdentity })
    else await record.waitFor('the provider to be given the documents', { whenDue: submitIdentity })
  }
  return record.state.status
}

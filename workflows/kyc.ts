import type { KycActivities } from '../activities/kyc.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { stepsOf } from './shared/steps.ts'

const { readIdentityCheck, submitIdentity, askProvider } = stepsOf<KycActivities>()({
  readIdentityCheck: { summary: 'How the identity check stands' },
  submitIdentity: { summary: 'Data and documents go to the provider, which checks a reference once' },
  askProvider: { summary: 'Whether the provider has decided' },
})

/**
 * The provider is given a person's data and documents, and is asked until it has decided. Where it never does, or where
 * there is none, the operator decides.
 */
export const kyc = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readIdentityCheck,
    async story(record) {
      await record.during(
        ({ next }) => next === 'submit',
        () => submitIdentity(input),
      )
      await record.during(
        ({ next }) => next === 'inquire',
        () => askProvider(input),
      )
    },
  })

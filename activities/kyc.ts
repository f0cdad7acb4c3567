import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Run, readWith } from './support.ts'

/** Status of a submission, and the step that is taken when its time has come. */
export interface KycStatus extends ProcessStatus {
  readonly next: 'submit' | 'inquire' | null
}

/** Each of them can be made again: what has been done is found done. */
export const kycActivities = (run: Run) => {
  const step = (operation: string) => async (input: ProcessInput) => {
    await run(operation, { of: input, as: 'process', requestId: requestOf(input) })
  }
  return {
    readIdentityCheck: (input: ProcessInput): Promise<KycStatus> =>
      readWith<KycStatus>(run, 'kyc.processStatus', input, requestOf(input)),
    submitIdentity: step('kyc.submit'),
    askProvider: step('kyc.inquire'),
  }
}

export type KycActivities = ReturnType<typeof kycActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:kyc/${id}`

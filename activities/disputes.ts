import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Run, readWith } from './support.ts'

/** Status of a dispute, and what is done when its time has come. */
export interface DisputeStatus extends ProcessStatus {
  readonly next: 'open' | 'document' | 'file' | 'withdraw' | 'inquire' | 'deadline' | null
}

/** Each of them can be made again: what has been done is found done. */
export const disputeActivities = (run: Run) => {
  const step = (operation: string) => async (input: ProcessInput) => {
    await run(operation, { of: input, as: 'process', requestId: requestOf(input) })
  }
  return {
    readDispute: (input: ProcessInput): Promise<DisputeStatus> =>
      readWith<DisputeStatus>(run, 'disputes.processStatus', input, requestOf(input)),
    followDisputeDeadlines: step('disputes.followDeadlines'),
    callAboutDispute: step('disputes.callProcessor'),
  }
}

export type DisputeActivities = ReturnType<typeof disputeActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:dispute/${id}`

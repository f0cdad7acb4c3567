import type { DisputeActivities } from '../activities/disputes.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { stepsOf } from './shared/steps.ts'

const { readDispute, followDisputeDeadlines, callAboutDispute } = stepsOf<DisputeActivities>()({
  readDispute: { summary: 'How the dispute stands' },
  followDisputeDeadlines: { summary: 'Provisional credit, reminder, or the end of the time for evidence' },
  callAboutDispute: {
    summary: 'The card processor is called, which acts once on a reference',
    timeoutMs: 60_000,
  },
})

/**
 * A dispute is opened at the processor, waits for evidence until its time is over, and is submitted; then the network is
 * asked how it has decided, until it has. It is followed again where the processor must be told of its end.
 */
export const dispute = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    recurs: true,
    read: readDispute,
    async story(record) {
      await record.during(
        ({ next }) => next === 'deadline',
        () => followDisputeDeadlines(input),
      )
      await record.during(
        ({ next }) => next !== null && next !== 'deadline',
        () => callAboutDispute(input),
      )
    },
  })

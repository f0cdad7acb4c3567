import type { RecoverySignal } from '../src/identity/people/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

/** Each of them can be made again: what has been done is found done. */
export const peopleActivities = (run: Run, settings: SignalSettings) => ({
  readRecovery: async (input: ProcessInput): Promise<ProcessStatus> =>
    withSignalsThatCount(
      await readWith(run, 'people.recoveryStatus', input, requestOf(input)),
      input,
      settings,
    ),

  answerRecovery: (signalled: Signalled<RecoverySignal>): Promise<string> =>
    decideWith(run, settings, signalled, {
      operation: 'people.cancelRecovery',
      requestId: requestOf(signalled),
      body: (_by, comment) => (comment ? { comment } : {}),
    }),

  async advanceRecovery(input: ProcessInput): Promise<void> {
    await run('people.advanceRecovery', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type PeopleActivities = ReturnType<typeof peopleActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:recovery/${id}`

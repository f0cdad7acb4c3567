import type { PeopleActivities } from '../activities/people.ts'
import { recoverySignals } from '../src/identity/people/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readRecovery, answerRecovery, advanceRecovery } = stepsOf<PeopleActivities>()({
  readRecovery: { summary: 'How the recovery stands' },
  answerRecovery: { summary: 'What an operator has signalled' },
  advanceRecovery: { summary: 'Nobody has stopped it in time, or nobody has used it in time' },
})

/** Everybody can stop a recovery for 24 hours; then its link is opened in time, or it expires. */
export const recovery = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readRecovery,
    answers: answersTo(recoverySignals, signalled => answerRecovery({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ status }) => status === 'waiting',
        () => advanceRecovery(input),
      )
      await record.during(
        ({ status }) => status === 'ready',
        () => advanceRecovery(input),
      )
    },
  })

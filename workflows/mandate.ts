import type { MandateActivities } from '../activities/mandates.ts'
import { mandateSignals } from '../src/control/mandates/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readMandate, changeMandate, expireMandate } = stepsOf<MandateActivities>()({
  readMandate: { summary: 'How the mandate stands' },
  changeMandate: { summary: 'What an operator has signalled' },
  expireMandate: { summary: 'Its time is over: nothing more is approved by it' },
})

/** A mandate is active, and perhaps suspended for a while, until it is revoked, exhausted or expired. */
export const mandate = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readMandate,
    answers: answersTo(mandateSignals, signalled => changeMandate({ ...input, ...signalled })),
    story: record =>
      record.during(
        ({ status }) => status === 'active' || status === 'suspended',
        () => expireMandate(input),
      ),
  })

import type { IntentActivities } from '../activities/intents.ts'
import { intentSignals } from '../src/control/intents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readIntent, decideIntent, expireIntent } = stepsOf<IntentActivities>()({
  readIntent: { summary: 'How the intent stands' },
  decideIntent: { summary: 'What an operator has signalled' },
  expireIntent: { summary: 'The deadline has passed: the intent ends, and its money is free' },
})

/** An intent is approved in time, then paid in time, or it expires. */
export const intent = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readIntent,
    answers: answersTo(intentSignals, signalled => decideIntent({ ...input, ...signalled })),
    async story(record) {
      const expire = () => expireIntent(input)
      await record.during(({ status }) => status === 'created', expire)
      await record.during(({ status }) => status === 'approved', expire)
    },
  })

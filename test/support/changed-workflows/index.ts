import type { IntentActivities } from '../../../activities/intents.ts'
import type { ProcessInput } from '../../../src/kernel/contract/process.ts'
import { followRecord } from '../../../workflows/shared/follow-record.ts'
import { stepsOf } from '../../../workflows/shared/steps.ts'

const { readIntent, expireIntent } = stepsOf<IntentActivities>()({
  readIntent: { summary: 'How the intent stands' },
  expireIntent: { summary: 'The intent expires' },
})

/** Changed in a way that no open run survives: it acts before it reads. */
export async function intent(input: ProcessInput): Promise<string> {
  await expireIntent(input)
  return followRecord(input, {
    read: readIntent,
    story: record =>
      record.during(
        () => true,
        () => expireIntent(input),
      ),
  })
}

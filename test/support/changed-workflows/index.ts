import { intentProcess } from '../../../src/control/intents/process.ts'
import type { ProcessInput } from '../../../src/kernel/contract/process.ts'
import { followRecord } from '../../../workflows/shared/follow-record.ts'
import { stepsOf } from '../../../workflows/shared/steps.ts'

const story = followRecord(intentProcess, (record, { expireIntent }) =>
  record.during(() => true, expireIntent),
)

/** An incompatible change for every open run: it acts before it reads. */
export async function intent(input: ProcessInput): Promise<string> {
  await stepsOf(intentProcess, input).expireIntent()
  return story(input)
}

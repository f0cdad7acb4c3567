import type { IntentActivities } from '../../../activities/intents.ts'
import type { ProcessInput } from '../../../src/kernel/contract/process.ts'
import { intent as unchanged } from '../../../workflows/intent.ts'
import { activities, decision, reading } from '../../../workflows/shared/activities.ts'

const { expireIntent } = activities<IntentActivities>({
  readIntent: reading('Status of the intent'),
  decideIntent: decision('Carry out the decision of an operator'),
  remindApprovers: decision('Remind the people who are asked to approve'),
  endApprovalStep: decision('End the step of the approval'),
  expireIntent: decision('Expire the intent'),
})

/** An incompatible change for every open run: it acts before it reads. */
export async function intent(input: ProcessInput): Promise<string> {
  await expireIntent(input)
  return unchanged(input)
}

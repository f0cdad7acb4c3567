import type { IntentActivities } from '../activities/intents.ts'
import { intentProcess } from '../src/control/intents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readIntent, decideIntent, expireIntent } = activities<IntentActivities>({
  readIntent: reading('Status of the intent'),
  decideIntent: decision('Carry out the decision of an operator'),
  expireIntent: decision('Expire the intent at its deadline and release its money'),
})

/** Waits for a person’s approval, then for the payment. At its deadline the intent expires. */
export async function intent(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: intentProcess,
    read: readIntent,
    decide: decideIntent,
    signals: {
      approve: 'Approves the intent and holds its money.',
      deny: 'Denies the intent and ends the run.',
      cancel: 'Cancels the intent and ends the run.',
    },
  })
  while (!record.isOver) {
    const { status, isBeingPaid, deadline } = record.state
    if (isBeingPaid) await record.waitFor('the end of its payment')
    else if (status === 'created')
      await record.waitFor(`a person’s approval, until ${deadline}`, { whenDue: expireIntent })
    else await record.waitFor(`its payment, until ${deadline}`, { whenDue: expireIntent })
  }
  return record.state.status
}

import type { IntentActivities } from '../activities/intents.ts'
import { intentProcess } from '../src/control/intents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readIntent, decideIntent, remindApprovers, endApprovalStep, expireIntent } =
  activities<IntentActivities>({
    readIntent: reading('Status of the intent'),
    decideIntent: decision('Carry out the decision of an operator'),
    remindApprovers: decision('Remind the people who are asked to approve'),
    endApprovalStep: decision('End the step that was not approved in time: ask the next people, or deny'),
    expireIntent: decision('Expire the intent at its deadline and release its money'),
  })

/**
 * Waits for the approval of a person, or of several by the steps of the policy; then for the payment. Those who are asked are
 * reminded, and a step that is not complete in time asks the next people, or denies. At its deadline the intent expires.
 */
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
    const { status, isBeingPaid, approvals, next, deadline } = record.state
    const whenDue = next ? { remind: remindApprovers, end: endApprovalStep }[next] : expireIntent
    if (isBeingPaid) await record.waitFor('the end of its payment')
    else if (approvals) await record.waitFor(`approvals: ${approvals}`, { whenDue })
    else if (status === 'created') await record.waitFor(`a person’s approval, until ${deadline}`, { whenDue })
    else await record.waitFor(`its payment, until ${deadline}`, { whenDue: expireIntent })
  }
  return record.state.status
}

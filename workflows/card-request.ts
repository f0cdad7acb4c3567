import type { CardRequestActivities } from '../activities/card-requests.ts'
import { cardRequestProcess } from '../src/cards/card-requests/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const {
  readCardRequest,
  answerCardRequest,
  remindCardApprovers,
  endCardApprovalStep,
  expireCardRequest,
  carryOutCardRequest,
} = activities<CardRequestActivities>({
  readCardRequest: reading('Status of the card request'),
  answerCardRequest: decision('Carry out the decision of an operator'),
  remindCardApprovers: decision('Remind the people who are asked to approve'),
  endCardApprovalStep: decision('End the step that was not approved in time: ask the next people, or deny'),
  expireCardRequest: decision('Expire the request, which was not answered in time'),
  carryOutCardRequest: decision('Carry out the approval: issue the card, or change its limits'),
})

/**
 * Waits for a person’s answer, or for several people by the steps of the policy, and has an approval carried out. Those who
 * are asked are reminded, and a step that is not complete in time asks the next people, or denies. Without an answer the
 * request expires.
 */
export async function cardRequest(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: cardRequestProcess,
    read: readCardRequest,
    decide: answerCardRequest,
    signals: {
      approve: 'Approves the request as made.',
      deny: 'Denies the request and ends the run.',
      cancel: 'Cancels the request and ends the run.',
    },
  })
  while (!record.isOver) {
    const { status, isCardRequested, approvals, next, deadline } = record.state
    const whenDue = next ? { remind: remindCardApprovers, end: endCardApprovalStep }[next] : expireCardRequest
    if (approvals) await record.waitFor(`approvals: ${approvals}`, { whenDue })
    else if (status === 'pending') await record.waitFor(`a person’s approval, until ${deadline}`, { whenDue })
    else if (isCardRequested) await record.waitFor('the processor to issue the card')
    else await record.waitFor('the approval to be carried out', { whenDue: carryOutCardRequest })
  }
  return record.state.status
}

import type { DisputeActivities } from '../activities/disputes.ts'
import { disputeProcess } from '../src/commerce/disputes/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readDispute, followDisputeDeadlines, callAboutDispute } = activities<DisputeActivities>({
  readDispute: reading('Status of the dispute'),
  followDisputeDeadlines: decision('Provisional credit, reminder, or the end of the time for evidence'),
  callAboutDispute: call('Call the card processor, which acts once on each reference', {
    startToCloseTimeout: '1 minute',
  }),
})

const CALLS = {
  open: 'the card processor to open it',
  document: 'the card processor to take the evidence',
  file: 'the card processor to submit it',
  withdraw: 'the card processor to withdraw it',
  inquire: 'the card network to decide',
}

/**
 * A dispute is opened at the processor, waits for evidence until the deadline, and is submitted with it; then the card network
 * is asked for its decision. The processor also learns that a dispute was withdrawn, or that the merchant has paid. While the
 * processor is awaited, the owner may be due a provisional credit, or a reminder of the deadline.
 */
export async function dispute(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: disputeProcess, read: readDispute })
  while (!record.isOver) {
    const { pendingCall, isCallNext, deadline } = record.state
    const what = pendingCall
      ? `${CALLS[pendingCall]}; the next inquiry is at ${deadline}`
      : `evidence, until ${deadline}`
    await record.waitFor(what, { whenDue: isCallNext ? callAboutDispute : followDisputeDeadlines })
  }
  return record.state.status
}

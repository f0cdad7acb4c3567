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

/**
 * A dispute is opened at the processor, waits for evidence until the deadline, and is submitted with it; then the card network
 * is asked for its decision. The processor also learns that a dispute was withdrawn, or that the merchant has paid.
 */
export async function dispute(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: disputeProcess, read: readDispute })
  while (!record.isOver) {
    const { pendingCall, isCallNext, deadline } = record.state
    const step = { whenDue: isCallNext ? callAboutDispute : followDisputeDeadlines }
    const again = `the next inquiry is at ${deadline}`
    if (pendingCall === null) await record.waitFor(`evidence, until ${deadline}`, step)
    else if (pendingCall === 'open') await record.waitFor(`the card processor to open it; ${again}`, step)
    else if (pendingCall === 'document')
      await record.waitFor(`the card processor to take the evidence; ${again}`, step)
    else if (pendingCall === 'file') await record.waitFor(`the card processor to submit it; ${again}`, step)
    else if (pendingCall === 'withdraw')
      await record.waitFor(`the card processor to withdraw it; ${again}`, step)
    else await record.waitFor(`the card network to decide; ${again}`, step)
  }
  return record.state.status
}

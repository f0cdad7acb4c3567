import type { RecoveryActivities } from '../activities/recoveries.ts'
import { recoveryProcess } from '../src/identity/people/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readRecovery, answerRecovery, advanceRecovery } = activities<RecoveryActivities>({
  readRecovery: reading('Status of the recovery'),
  answerRecovery: decision('Carry out the decision of an operator'),
  advanceRecovery: decision('Allow the link after 24 hours, or end what was not used in time'),
})

/** Every person of the account can stop a recovery for 24 hours; then its link is opened in time, or it expires. */
export async function recovery(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: recoveryProcess,
    read: readRecovery,
    decide: answerRecovery,
    signals: { cancel: 'Stops the recovery and ends the run.' },
  })
  while (!record.isOver) {
    const { status, deadline } = record.state
    const what =
      status === 'waiting'
        ? `the 24 hours in which it can be stopped, until ${deadline}`
        : `the operator’s link to be opened, until ${deadline}`
    await record.waitFor(what, { whenDue: advanceRecovery })
  }
  return record.state.status
}

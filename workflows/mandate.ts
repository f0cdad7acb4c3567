import type { MandateActivities } from '../activities/mandates.ts'
import { mandateProcess } from '../src/control/mandates/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readMandate, changeMandate, expireMandate } = activities<MandateActivities>({
  readMandate: reading('Status of the mandate'),
  changeMandate: decision('Carry out the decision of an operator'),
  expireMandate: decision('Expire the mandate at its end'),
})

/** A mandate is active, possibly suspended for a while, until it is revoked, exhausted or expired. */
export async function mandate(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: mandateProcess,
    read: readMandate,
    decide: changeMandate,
    signals: {
      suspend: 'Suspends the mandate: it approves nothing until it is resumed.',
      resume: 'Makes the mandate active again.',
      revoke: 'Revokes the mandate permanently and ends the run.',
    },
  })
  while (!record.isOver) {
    const { status, deadline } = record.state
    const what =
      status === 'suspended' ? `it to be resumed, until ${deadline}` : `its end, on ${deadline} at the latest`
    await record.waitFor(what, { whenDue: expireMandate })
  }
  return record.state.status
}

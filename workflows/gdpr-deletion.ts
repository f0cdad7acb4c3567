import type { DeletionActivities } from '../activities/gdpr.ts'
import { dataDeletionProcess } from '../src/compliance/gdpr/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readDeletion, advanceDeletion } = activities<DeletionActivities>({
  readDeletion: reading('Status of the deletion'),
  advanceDeletion: decision('The next step: check what must end first, close the account, forget a page'),
})

/** The request can be taken back for seven days; then what must end first is awaited, and all is forgotten page by page. */
export async function gdprDeletion(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: dataDeletionProcess, read: readDeletion })
  while (!record.isOver) {
    const { status, deadline, obstacles } = record.state
    if (status === 'requested')
      await record.waitFor(`the days in which it can be cancelled, until ${deadline}`, {
        whenDue: advanceDeletion,
      })
    else if (status === 'waiting')
      await record.waitFor(`${obstacles.length} records to end: ${obstacles.join(', ')}`, {
        whenDue: advanceDeletion,
      })
    else await record.waitFor('the next step', { whenDue: advanceDeletion })
  }
  return record.state.status
}

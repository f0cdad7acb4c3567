import type { ExportActivities } from '../activities/gdpr.ts'
import { dataExportProcess } from '../src/compliance/gdpr/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readExport, advanceExport } = activities<ExportActivities>({
  readExport: reading('Status of the export'),
  advanceExport: decision('Make the archive ready, or end it after seven days'),
})

/** The archive is made ready at once, and can be downloaded for seven days. */
export async function gdprExport(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: dataExportProcess, read: readExport })
  while (!record.isOver) {
    const { status, deadline } = record.state
    const what = status === 'ready' ? `the archive to expire, at ${deadline}` : 'the archive to be made ready'
    await record.waitFor(what, { whenDue: advanceExport })
  }
  return record.state.status
}

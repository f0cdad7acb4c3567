import type { SepaFileActivities } from '../activities/sepa-files.ts'
import { sepaFileProcess } from '../src/commerce/rails/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readFile, makeFile, stageFile, handOverFile, sayReportIsLate, takeReport } =
  activities<SepaFileActivities>({
    readFile: reading('Status of the file'),
    makeFile: decision('Make the file of the payments that wait for it'),
    stageFile: call('Stage the file in the bank’s folder, where the bank does not see it yet'),
    handOverFile: call('Release the staged file to the bank'),
    sayReportIsLate: decision('Say that the bank’s report is late'),
    takeReport: decision('Take what the bank says of each payment: a rejection brings the money back', {
      startToCloseTimeout: '5 minutes',
    }),
  })

/** Collects payments until its cut-off, is handed over to the bank once, and waits for the bank’s report. */
export async function sepaFile(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: sepaFileProcess, read: readFile })
  while (!record.isOver) {
    const { status, report, hasNotices, deadline } = record.state
    if (status === 'open')
      await record.waitFor(`payments, until its cut-off, ${deadline}`, { whenDue: makeFile })
    else if (status === 'made')
      await record.waitFor(`the end of another attempt to stage it, until ${deadline}`, { whenDue: stageFile })
    else if (status === 'staged')
      await record.waitFor(`the end of another attempt to release it, until ${deadline}`, { whenDue: handOverFile })
    else if (hasNotices) await record.waitFor('the bank’s report to be taken', { whenDue: takeReport })
    else if (report === 'late') await record.waitFor('the bank’s report, which is late')
    else await record.waitFor(`the bank’s report, which is late after ${deadline}`, { whenDue: sayReportIsLate })
  }
  return record.state.status
}

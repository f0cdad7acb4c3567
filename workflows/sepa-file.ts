import type { SepaFileActivities } from '../activities/sepa-files.ts'
import { sepaFileProcess } from '../src/commerce/rails/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readSepaFile, makeSepaFile, stageSepaFile, handOverSepaFile, sayReportIsLate, takeReport } =
  activities<SepaFileActivities>({
    readSepaFile: reading('Status of the file'),
    makeSepaFile: decision('Make the file of the payments that wait for it'),
    stageSepaFile: call('Stage the file in the bank’s folder, where the bank does not see it yet'),
    handOverSepaFile: call('Release the staged file to the bank'),
    sayReportIsLate: decision('Say that the bank’s report is late'),
    takeReport: decision('Take what the bank says of each payment: a rejection brings the money back', {
      startToCloseTimeout: '5 minutes',
    }),
  })

/** Collects payments until its cut-off, is handed over to the bank once, and waits for the bank’s report. */
export async function sepaFile(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: sepaFileProcess, read: readSepaFile })
  while (!record.isOver) {
    const { status, report, hasNotices, deadline } = record.state
    const otherAttempt = `the end of another attempt to hand it over, until ${deadline}`
    if (status === 'open')
      await record.waitFor(`payments, until its cut-off, ${deadline}`, { whenDue: makeSepaFile })
    else if (status === 'made') await record.waitFor(otherAttempt, { whenDue: stageSepaFile })
    else if (status === 'staged') await record.waitFor(otherAttempt, { whenDue: handOverSepaFile })
    else if (hasNotices)
      await record.waitFor(`the end of another attempt to take the report, until ${deadline}`, {
        whenDue: takeReport,
      })
    else if (report === 'awaited')
      await record.waitFor(`the bank’s report, which is late after ${deadline}`, { whenDue: sayReportIsLate })
    else await record.waitFor('the bank’s report, which is late')
  }
  return record.state.status
}

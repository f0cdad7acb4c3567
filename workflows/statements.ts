import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow'
import type { Closed } from '../activities/statements.ts'
import type { MonthsOf } from '../src/money/statements/process.ts'
import { onCancellationRequest, onRecordChanged } from './shared/follow-record.ts'
import { addToTimeline } from './shared/run-page.ts'
import { activity } from './shared/steps.ts'

const closeMonths = activity<MonthsOf, Closed>('closeMonths', {
  summary: 'The statements of one page of wallets',
  timeoutMs: 300_000,
})

/** Goes through the wallets page by page. An existing statement is not made again, wherever the run has to resume. */
export const statements = (months: MonthsOf): Promise<string> =>
  onCancellationRequest(
    () => void addToTimeline('Request Cancellation changed nothing: what is missing is drawn up.'),
    () => drawUp(months),
  )

async function drawUp({ after = '', ...whose }: MonthsOf): Promise<string> {
  let hasChanged = false
  onRecordChanged(() => {
    hasChanged = true
  })
  let made = 0
  let from: string | null = after
  while (from !== null) {
    // Months may have ended since for wallets of earlier pages.
    if (hasChanged) from = ''
    hasChanged = false
    const page = await closeMonths({ ...whose, after: from })
    made += page.made
    setCurrentDetails(`${made} statements made`)
    from = hasChanged ? '' : page.next
    if (from !== null && workflowInfo().continueAsNewSuggested) await continueAsNew({ ...whose, after: from })
  }
  return `${made} statements made`
}

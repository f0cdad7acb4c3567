import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow'
import type { MonthlyStatementProgress } from '../activities/statements.ts'
import type { StatementRunInput } from '../src/money/statements/process.ts'
import { runIgnoringCancellation } from './shared/follow-record.ts'
import { pinned } from './shared/pinned.ts'
import { addNoteToTimeline } from './shared/run-page.ts'
import { handleRecordChanged } from './shared/signals.ts'
import { proxyActivity } from './shared/steps.ts'

const closeMonths = proxyActivity<StatementRunInput, MonthlyStatementProgress>('closeMonths', {
  summary: 'The statements of one page of wallets',
  timeoutMs: 300_000,
})

/** Goes through the wallets page by page. An existing statement is not made again, wherever the run has to resume. */
export const statements = (months: StatementRunInput): Promise<string> =>
  runIgnoringCancellation(
    () => void addNoteToTimeline('Request Cancellation changed nothing: what is missing is drawn up.'),
    () => drawUp(months),
  )

async function drawUp({ after = '', ...whose }: StatementRunInput): Promise<string> {
  let hasChanged = false
  handleRecordChanged(() => {
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

pinned(statements)

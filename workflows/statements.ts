import { CancellationScope, continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow'
import type { StatementActivities } from '../activities/statements.ts'
import type { StatementRunInput } from '../src/money/statements/process.ts'
import { activities, decision } from './shared/activities.ts'
import { pinned } from './shared/pinned.ts'
import { addNoteToTimeline } from './shared/run-page.ts'
import { handleRecordChanged } from './shared/signals.ts'

const { closeMonths } = activities<StatementActivities>({
  closeMonths: decision('The statements of one page of wallets', { startToCloseTimeout: '5 minutes' }),
})

/** Goes through the wallets page by page. An existing statement is not made again, wherever the run has to resume. */
export function statements(months: StatementRunInput): Promise<string> {
  CancellationScope.current().cancelRequested.catch(
    () => void addNoteToTimeline('Request Cancellation changed nothing: what is missing is drawn up.'),
  )
  return CancellationScope.nonCancellable(() => drawUp(months))
}

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

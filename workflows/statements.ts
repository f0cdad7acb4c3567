import {
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { Closed, StatementActivities } from '../activities/statements.ts'
import { LOOK_AGAIN } from '../src/kernel/contract/process.ts'
import type { MonthsOf } from '../src/money/statements/process.ts'
import { heedCancellation, tell } from './follow-record.ts'

const { closeMonths } = proxyActivities<StatementActivities>({
  startToCloseTimeout: 300_000,
  retry: { initialInterval: 200, maximumInterval: 30_000 },
})

/** Page by page through the wallets; what is made is not made again, wherever it has to go on. */
export const statements = (months: MonthsOf): Promise<string> =>
  heedCancellation(
    () => void tell('Request Cancellation changed nothing: what is missing is drawn up.'),
    () => drawUp(months),
  )

async function drawUp({ after = '', ...whose }: MonthsOf): Promise<string> {
  let toldToLook = false
  setHandler(defineSignal(LOOK_AGAIN), () => {
    toldToLook = true
  })
  let made = 0
  let from: string | null = after
  while (from !== null) {
    // Months may have ended since for wallets that have been looked at.
    if (toldToLook) from = ''
    toldToLook = false
    const page: Closed = await closeMonths({ ...whose, after: from })
    made += page.made
    setCurrentDetails(`${made} statements made`)
    from = toldToLook ? '' : page.next
    if (from !== null && workflowInfo().continueAsNewSuggested) await continueAsNew({ ...whose, after: from })
  }
  return `${made} statements made`
}

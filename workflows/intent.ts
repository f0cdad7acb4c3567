import { proxyActivities } from '@temporalio/workflow'
import type { IntentActivities } from '../activities/intents.ts'
import { approverSignals } from '../src/control/intents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { follow, signals } from './follow-record.ts'

const { lookAtIntent, decideIntent, expireIntent } = proxyActivities<IntentActivities>({
  startToCloseTimeout: 15_000,
  retry: { initialInterval: 200, maximumInterval: 30_000 },
})

/** An intent waits for its approver or its deadline; an approved one for its payment or its deadline. */
export const intent = (input: ProcessInput): Promise<string> =>
  follow(input, {
    look: () => lookAtIntent(input),
    due: () => expireIntent(input),
    ...signals(approverSignals, asked => decideIntent({ ...input, ...asked })),
  })

import { proxyActivities } from '@temporalio/workflow'
import type { IntentActivities } from '../../../activities/intents.ts'
import type { ProcessInput } from '../../../src/kernel/contract/process.ts'
import { follow } from '../../../workflows/follow-record.ts'

const { lookAtIntent, expireIntent } = proxyActivities<IntentActivities>({ startToCloseTimeout: 30_000 })

/** Changed in a way that no open run survives: it acts before it looks. */
export async function intent(input: ProcessInput): Promise<string> {
  await expireIntent(input)
  return follow(input, { look: () => lookAtIntent(input), due: () => expireIntent(input) })
}

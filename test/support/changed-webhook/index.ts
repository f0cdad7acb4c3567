import { sleep } from '@temporalio/workflow'
import type { ProcessInput } from '../../../src/kernel/contract/process.ts'
import { pinned } from '../../../workflows/shared/pinned.ts'
import { webhook as unchanged } from '../../../workflows/webhook.ts'

export { intent } from '../../../workflows/intent.ts'

/** An incompatible change for every open run: it rests before it reads. */
export async function webhook(ref: ProcessInput): Promise<string> {
  await sleep(1)
  return unchanged(ref)
}

pinned(webhook)

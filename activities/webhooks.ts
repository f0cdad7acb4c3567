import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Run, readWith } from './support.ts'

export const webhookActivities = (run: Run) => {
  const retry = (input: ProcessInput, asked: boolean) =>
    run<{ acted: boolean }>('webhooks.retry', {
      of: input,
      as: 'process',
      requestId: requestOf(input),
      body: { asked },
    })
  const readDelivery = (input: ProcessInput): Promise<ProcessStatus> =>
    readWith(run, 'webhooks.status', input, requestOf(input))
  return {
    readDelivery,

    async retryDelivery(input: ProcessInput): Promise<void> {
      await retry(input, false)
    },

    /** For a person who does not want to wait; gives the line that the operator reads. */
    async retryDeliveryNow(input: ProcessInput): Promise<string> {
      const { result, refused } = await retry(input, true)
      return result?.acted
        ? 'Signal retryNow: done.'
        : `The signal retryNow changed nothing. ${refused ?? ''}`
    },
  }
}

export type WebhookActivities = ReturnType<typeof webhookActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:webhook/${id}`

import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { lookWith, type Run } from './support.ts'

export const webhookActivities = (run: Run) => {
  const retry = (input: ProcessInput, asked: boolean) =>
    run<{ acted: boolean }>('webhooks.retry', {
      ...{ of: input, as: 'process', requestId: requestOf(input) },
      body: { asked },
    })
  return {
    lookAtDelivery: (input: ProcessInput) => lookWith(run, 'webhooks.look', input, requestOf(input)),

    async retryDelivery(input: ProcessInput): Promise<void> {
      await retry(input, false)
    },

    /** As a person wishes; gives the line that the operator reads. */
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

import {
  claimRetry,
  deliveriesApi,
  deliveryRunStatus,
  recordRetry,
  webhookSteps,
} from '../src/delivery/webhooks/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import { NoTurn } from '../src/kernel/run/system-turns.ts'
import type { ActivityTools } from './shared/tools.ts'

export type WebhookActivities = ReturnType<typeof webhookActivities>

export const webhookActivities = ({ read, decide, outside, attemptDelivery }: ActivityTools) => {
  const readDelivery = (ref: RecordRef) => read(ref, context => deliveryRunStatus(ref.id, context))
  return {
    readDelivery,

    decideDelivery: decide({ retryNow: { operation: deliveriesApi.retry } }, { withoutPayload: true }),

    /** Where other attempts at the receiver come first, Temporal tries again: nothing is held meanwhile. */
    sendAgain: outside(webhookSteps.attempt, async (ref, { transaction, call, holder, stopping }) => {
      const claimed = await transaction(tx => claimRetry(ref.id, holder, tx))
      if (claimed === 'busy') throw new NoTurn('Other webhooks to the receiver are under way.')
      if (claimed)
        await call(
          () => unlessStopped(attemptDelivery(claimed), stopping),
          (result, tx) => recordRetry(claimed, result, tx),
        )
      return readDelivery(ref)
    }),
  }
}

/** The result, or null if the process stops before: another one sends it again. */
async function unlessStopped<T>(work: Promise<T>, stopping: AbortSignal | undefined): Promise<T | null> {
  if (!stopping) return work
  const stopped = Promise.withResolvers<null>()
  const stop = () => stopped.resolve(null)
  stopping.addEventListener('abort', stop)
  if (stopping.aborted) stop()
  return Promise.race([work, stopped.promise]).finally(() => stopping.removeEventListener('abort', stop))
}

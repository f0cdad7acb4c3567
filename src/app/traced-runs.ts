import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import type { ProcessInput } from '../kernel/contract/process.ts'
import type { DeliverOutboxMessage } from '../kernel/journal/outbox.ts'
import type { Tracing } from '../ports/tracing.ts'

/** Starts or signals each run in a span, and gives it to the run, whose activities are below it. */
export const withTracedStarts =
  (deliver: DeliverOutboxMessage, tracing: Tracing): DeliverOutboxMessage =>
  (message, others = []) => {
    const { process, workflowId, input } = message
    const start = {
      name: `run ${process}`,
      kind: 'producer',
      parent: input.traceparent,
      links: others.flatMap(({ input: { traceparent } }) => traceparent ?? []),
      attributes: { 'temporal.workflow_id': workflowId },
    } as const
    return tracing.span(start, ({ traceparent }) =>
      deliver(traceparent === undefined ? message : { ...message, input: { ...input, traceparent } }),
    )
  }

/** Runs each activity in a span. An attempt that only waits until its record is due is no failure. */
export const tracedActivities =
  (tracing: Tracing): ActivityInterceptorsFactory =>
  ({ info: { activityType, attempt, workflowExecution } }) => ({
    inbound: {
      execute(input, next) {
        const [of] = input.args as readonly Partial<ProcessInput>[]
        const start = {
          name: `activity ${activityType}`,
          kind: 'consumer',
          parent: of?.traceparent,
          attributes: {
            'temporal.workflow_id': workflowExecution?.workflowId ?? '',
            'temporal.activity': activityType,
            'temporal.attempt': attempt,
          },
          isFailure: isNoWait,
        } as const
        return tracing.span(start, () => next(input))
      },
    },
  })

const isNoWait = (error: unknown): boolean =>
  !(error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN)

import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { Runs } from '../../kernel/background/open-records.ts'
import { clock } from '../../values/clock.ts'
import { startOptions } from './starter.ts'

const DEADLINE = 10_000

/** Implements `Runs` of `beginMissingRuns` with Temporal's client. */
export function temporalRuns(
  { workflow, workflowService, connection, options }: Client,
  taskQueue: string,
): Runs {
  const { namespace } = options
  const inTime = <T>(call: () => Promise<T>): Promise<T> =>
    connection.withDeadline(clock.milliseconds() + DEADLINE, call)
  return {
    async open(workflowIds) {
      const ids = workflowIds.map(id => `'${id}'`).join(', ')
      const query = `WorkflowId in (${ids}) and CloseTime is null`
      const { executions } = await inTime(() =>
        workflowService.listWorkflowExecutions({ namespace, query, pageSize: workflowIds.length }),
      )
      return new Set(executions.map(({ execution }) => String(execution?.workflowId)))
    },

    // The list is eventually consistent and lacks closed runs' outcomes: the server itself refuses duplicates.
    async begin(process, workflowId, input) {
      const start = () =>
        workflow.start(process.name, {
          ...startOptions(process, input),
          workflowId,
          taskQueue,
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        })
      await inTime(start).catch((error: unknown) => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      })
    },
  }
}

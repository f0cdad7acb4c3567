import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { WorkflowIdReusePolicy } from '@temporalio/common'
import type { WorkflowRuns } from '../../kernel/background/open-records.ts'
import { clock } from '../../values/clock.ts'
import { workflowStartOptions } from './starter.ts'

const DEADLINE = 10_000

export function temporalWorkflowRuns(
  { workflow, workflowService, connection, options }: Client,
  taskQueue: string,
): WorkflowRuns {
  const { namespace } = options
  const inTime = <T>(call: () => Promise<T>): Promise<T> =>
    connection.withDeadline(clock.milliseconds() + DEADLINE, call)
  const startBy = (policy: WorkflowIdReusePolicy): WorkflowRuns['start'] => {
    return async (process, workflowId, input) => {
      const start = async () => {
        await workflow.start(process.name, {
          ...workflowStartOptions(process, input),
          workflowId,
          taskQueue,
          workflowIdReusePolicy: policy,
        })
        return undefined
      }
      return inTime(start).catch(async (error: unknown) => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
        const { status } = await inTime(() => workflow.getHandle(workflowId).describe())
        return status.name === 'COMPLETED' ? 'completed' : undefined
      })
    }
  }
  const startAgain = startBy('ALLOW_DUPLICATE')
  return {
    async open(workflowIds) {
      const ids = workflowIds.map(id => `'${id}'`).join(', ')
      const query = `WorkflowId in (${ids}) and CloseTime is null`
      const { executions } = await inTime(() =>
        workflowService.listWorkflowExecutions({ namespace, query, pageSize: workflowIds.length }),
      )
      return new Set(executions.map(({ execution }) => String(execution?.workflowId)))
    },

    // The list is eventually consistent and lacks the outcomes of closed runs: the server itself refuses
    // duplicates.
    start: startBy('ALLOW_DUPLICATE_FAILED_ONLY'),

    async restart(...run) {
      await startAgain(...run)
    },
  }
}

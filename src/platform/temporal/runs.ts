import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import type { WorkflowIdReusePolicy } from '@temporalio/common'
import type { Runs } from '../../kernel/background/open-records.ts'
import { clock } from '../../values/clock.ts'
import { startOptions } from './starter.ts'

interface Configured {
  readonly temporalWebUi?: string | undefined
  readonly temporalNamespace: string
}

export interface RunPages {
  runUrl(workflowId: string): string | null
  /** Sets the address of the Web UI that was started with this process. The setting overrides it. */
  showRunsAt(webUi: string | null): void
}

export function runPages({ temporalWebUi, temporalNamespace }: Configured): RunPages {
  let started: string | null = null
  return {
    runUrl(workflowId) {
      const webUi = temporalWebUi ?? started
      if (!webUi) return null
      return `${webUi}/namespaces/${temporalNamespace}/workflows/${encodeURIComponent(workflowId)}`
    },
    showRunsAt(webUi) {
      started = webUi
    },
  }
}

const DEADLINE = 10_000

export function temporalRuns(
  { workflow, workflowService, connection, options }: Client,
  taskQueue: string,
): Runs {
  const { namespace } = options
  const inTime = <T>(call: () => Promise<T>): Promise<T> =>
    connection.withDeadline(clock.milliseconds() + DEADLINE, call)
  const beginBy = (policy: WorkflowIdReusePolicy): Runs['begin'] => {
    return async (process, workflowId, input) => {
      const start = async () => {
        await workflow.start(process.name, {
          ...startOptions(process, input),
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
  const beginAgain = beginBy('ALLOW_DUPLICATE')
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
    begin: beginBy('ALLOW_DUPLICATE_FAILED_ONLY'),

    async beginAgain(...run) {
      await beginAgain(...run)
    },
  }
}

import type { Client } from '@temporalio/client'

interface RunHistory {
  /** The build that has completed each workflow task. */
  readonly builds: readonly string[]
  /** Why workflow tasks failed: a task that fails is repeated for ever. */
  readonly failures: readonly string[]
}

/** The server's number for a task that was ending its run when a signal came: it is repeated, and nothing is wrong. */
const OVERTAKEN = 1

export async function historyOf(
  { workflow }: Client,
  workflowId: string,
  runId?: string,
): Promise<RunHistory> {
  const { events } = await workflow.getHandle(workflowId, runId).fetchHistory()
  const all = events ?? []
  return {
    builds: all.flatMap(({ workflowTaskCompletedEventAttributes: done }) =>
      done ? [String(done.deploymentVersion?.buildId)] : [],
    ),
    failures: all.flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
      failed && failed.cause !== OVERTAKEN ? [`${workflowId}: ${failed.failure?.message}`] : [],
    ),
  }
}

/** What went wrong in the runs that Temporal has: tasks that failed, and runs that were ended from outside. */
export async function troublesOf(
  client: Client,
): Promise<{ readonly runs: number; readonly lines: string[] }> {
  const lines: string[] = []
  let runs = 0
  for await (const { workflowId, runId, status } of client.workflow.list()) {
    runs++
    lines.push(...(await historyOf(client, workflowId, runId)).failures)
    if (['FAILED', 'TERMINATED', 'CANCELLED', 'TIMED_OUT'].includes(status.name))
      lines.push(`${workflowId}: ${status.name}`)
  }
  return { runs, lines }
}

/** How many runs stay with a build. */
export const openRunsOf = async ({ workflow }: Client, deployment: string, build: string): Promise<number> =>
  (
    await workflow.count(
      `ExecutionStatus = 'Running' and TemporalWorkerDeploymentVersion = '${deployment}:${build}' and TemporalWorkflowVersioningBehavior = 'Pinned'`,
    )
  ).count

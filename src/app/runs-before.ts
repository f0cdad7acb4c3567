import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client'
import type { TemporalAccess } from './temporal-access.ts'

const CONNECT_MS = 5_000
const REASON = 'Its record was taken over by a newer version, which begins a new run for it.'

/**
 * Ends the open runs of the version before: the workflows of this one cannot go on with them. The relay begins new ones from
 * the records. To be called while no relay and no worker runs, and again where it did not get to its end.
 */
export async function endRunsBefore({ client, namespace, taskQueue }: TemporalAccess): Promise<number> {
  const connection = await Connection.connect({ ...client, connectTimeout: CONNECT_MS })
  try {
    return await endAll(new Client({ connection, namespace }), taskQueue)
  } finally {
    await connection.close()
  }
}

async function endAll({ workflow }: Client, taskQueue: string): Promise<number> {
  const query = `TaskQueue = '${taskQueue}' and ExecutionStatus = 'Running'`
  const ended = new Set<string>()
  // The list lags behind: what is ended may still be in it, and what was begun last may not be in it yet.
  for (let before = -1; before < ended.size; ) {
    before = ended.size
    for await (const { workflowId, runId } of workflow.list({ query }))
      if (!ended.has(runId)) {
        await workflow.getHandle(workflowId, runId).terminate(REASON).catch(unlessOver)
        ended.add(runId)
      }
  }
  return ended.size
}

function unlessOver(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error
}

import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client'
import type { TemporalAccess } from './temporal-access.ts'

const CONNECT_MS = 5_000
const REASON = 'Its record was taken over by a newer version, which begins a new run for it.'

/**
 * Ends the open runs of the version before, whose histories this version's workflows cannot replay. The relay
 * starts new ones from the records. Call it while no relay or worker runs, and again if it was interrupted.
 */
export async function endPreviousRuns({ client, namespace, taskQueue }: TemporalAccess): Promise<number> {
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
  // The list lags behind: ended runs may still be in it, and the newest runs may be missing.
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

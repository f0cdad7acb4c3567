import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import {
  AGENT_ATTRIBUTE,
  OWNER_ATTRIBUTE,
  type Process,
  type ProcessInput,
  RECORD_CHANGED,
  type StartInput,
} from '../../kernel/contract/process.ts'
import { type Deliver, runSummary } from '../../kernel/journal/outbox.ts'
import { clock } from '../../values/clock.ts'

const DEADLINE = 10_000

/** The processes by their names. */
export type Processes = ReadonlyMap<string, Process>

/**
 * Begins the process or tells the one that runs that its record has changed: one call for both, so that the order in
 * which rows arrive is no matter. A process that has ended reads nothing any more.
 */
export const temporalStarter =
  (client: Client, taskQueue: string, processes: Processes): Deliver =>
  async ({ process, recurs, workflowId, input }) => {
    const begin = () =>
      client.workflow.signalWithStart(process, {
        ...startOptions(processes.get(process) ?? { name: process }, input),
        workflowId,
        taskQueue,
        signal: RECORD_CHANGED,
        signalArgs: [],
        workflowIdReusePolicy: recurs ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
      })
    await client.connection.withDeadline(clock.milliseconds() + DEADLINE, begin).catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    })
  }

/** What a run is begun with, and by what an operator finds and understands it in the list. */
export function startOptions(process: Process, { summary, ...input }: StartInput) {
  const { details } = process
  return {
    args: [input],
    staticSummary: summary ?? runSummary(process, input.mode, input),
    ...(details === undefined ? {} : { staticDetails: details }),
    typedSearchAttributes: attributesOf(input),
  }
}

const attributesOf = ({ ownerId, agentId }: ProcessInput): TypedSearchAttributes =>
  new TypedSearchAttributes([
    { key: OWNER_ATTRIBUTE, value: ownerId },
    ...(agentId ? [{ key: AGENT_ATTRIBUTE, value: agentId }] : []),
  ])

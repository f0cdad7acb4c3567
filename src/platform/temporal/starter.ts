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

export type Processes = ReadonlyMap<string, Process>

/** Signal-with-start: one call starts the run or notifies the running one, so the order of the rows does not matter. */
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

import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import {
  AGENT_ATTRIBUTE,
  LOOK_AGAIN,
  OWNER_ATTRIBUTE,
  type ProcessInput,
} from '../../kernel/contract/process.ts'
import type { Deliver } from '../../kernel/journal/outbox.ts'
import { clock } from '../../values/clock.ts'

const DEADLINE = 10_000

/**
 * Begins the process or tells the one that runs to look again: one call for both, so that the order in which rows
 * arrive is no matter. A process that has ended has nothing more to look at.
 */
export const temporalStarter =
  (client: Client, taskQueue: string): Deliver =>
  async ({ process, recurs, workflowId, input }) => {
    const begin = () =>
      client.workflow.signalWithStart(process, {
        workflowId,
        taskQueue,
        args: [input],
        signal: LOOK_AGAIN,
        signalArgs: [],
        workflowIdReusePolicy: recurs ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
        typedSearchAttributes: attributesOf(input),
      })
    await client.connection.withDeadline(clock.milliseconds() + DEADLINE, begin).catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    })
  }

export const attributesOf = ({ ownerId, agentId }: ProcessInput): TypedSearchAttributes =>
  new TypedSearchAttributes([
    { key: OWNER_ATTRIBUTE, value: ownerId },
    ...(agentId ? [{ key: AGENT_ATTRIBUTE, value: agentId }] : []),
  ])

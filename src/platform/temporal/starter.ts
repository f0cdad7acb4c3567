import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import {
  AGENT_SEARCH_ATTRIBUTE,
  AMOUNT_ATTRIBUTE,
  DEADLINE_ATTRIBUTE,
  type DurableProcess,
  MODE_ATTRIBUTE,
  OWNER_SEARCH_ATTRIBUTE,
  type ProcessInput,
  type ProcessStartInput,
  RECORD_CHANGED_SIGNAL,
  STATUS_SEARCH_ATTRIBUTE,
} from '../../kernel/contract/process.ts'
import { type DeliverOutboxMessage, workflowRunSummary } from '../../kernel/journal/outbox.ts'
import { clock } from '../../values/clock.ts'

const DEADLINE = 10_000

export type ProcessesByName = ReadonlyMap<string, DurableProcess>

/**
 * Signal-with-start: one call starts the run or notifies the running one, so the order of the rows does not matter. The
 * run of a new record is started without the signal, which would be one more event in its history.
 */
export const workflowStarter =
  (client: Client, taskQueue: string, processes: ProcessesByName): DeliverOutboxMessage =>
  async ({ process: name, recurs, workflowId, input }) => {
    const process = processes.get(name) ?? { name }
    const options = {
      ...workflowStartOptions(process, input),
      workflowId,
      taskQueue,
      workflowIdReusePolicy: recurs ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    } as const
    const signal = { signal: RECORD_CHANGED_SIGNAL, signalArgs: [] }
    const isBegun = (begin: () => Promise<unknown>): Promise<boolean> =>
      client.connection.withDeadline(clock.milliseconds() + DEADLINE, begin).then(
        () => true,
        (error: unknown) => {
          if (error instanceof WorkflowExecutionAlreadyStartedError) return false
          throw error
        },
      )
    const isNew = input.status !== undefined && process.newIn?.includes(input.status)
    if (isNew && (await isBegun(() => client.workflow.start(name, options)))) return
    await isBegun(() => client.workflow.signalWithStart(name, { ...options, ...signal }))
  }

/** Temporal's priorities are 1 to 5, and 3 by itself. */
export const AFTER_MONEY = 4

export function workflowStartOptions(
  process: DurableProcess,
  { summary, status, amount, deadline, ...input }: ProcessStartInput,
) {
  return {
    args: [input],
    staticSummary: summary ?? workflowRunSummary(process, input.mode, input),
    typedSearchAttributes: attributesOf({ ...input, status, amount, deadline }),
    // Where more is to be done than workers can, owners take turns, and money comes before reports.
    priority: { fairnessKey: input.ownerId, ...(process.isReport && { priorityKey: AFTER_MONEY }) },
  }
}

type Listed = { readonly [Name in keyof ProcessStartInput]: ProcessStartInput[Name] | undefined }

const attributesOf = ({ ownerId, mode, agentId, status, amount, deadline }: Listed & ProcessInput) =>
  new TypedSearchAttributes([
    { key: OWNER_SEARCH_ATTRIBUTE, value: ownerId },
    { key: MODE_ATTRIBUTE, value: mode },
    ...(agentId ? [{ key: AGENT_SEARCH_ATTRIBUTE, value: agentId }] : []),
    ...(status ? [{ key: STATUS_SEARCH_ATTRIBUTE, value: status }] : []),
    ...(amount === undefined ? [] : [{ key: AMOUNT_ATTRIBUTE, value: amount }]),
    ...(deadline ? [{ key: DEADLINE_ATTRIBUTE, value: new Date(deadline) }] : []),
  ])

import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import {
  AGENT_ATTRIBUTE,
  AMOUNT_ATTRIBUTE,
  DEADLINE_ATTRIBUTE,
  isRecordProcess,
  MODE_ATTRIBUTE,
  OWNER_ATTRIBUTE,
  type Process,
  type ProcessInput,
  RECORD_CHANGED,
  RUN_VERSION,
  STATUS_ATTRIBUTE,
  type StartInput,
} from '../../kernel/contract/process.ts'
import { type Deliver, runSummary } from '../../kernel/journal/outbox.ts'
import { clock } from '../../values/clock.ts'

const DEADLINE = 10_000

export type Processes = ReadonlyMap<string, Process>

/**
 * Signal-with-start: one call starts the run or notifies the running one, so the order of the rows does not matter. The
 * run of a new record is started without the signal, which would be one more event in its history.
 */
export const temporalStarter =
  (client: Client, taskQueue: string, processes: Processes): Deliver =>
  async ({ process: name, recurs, workflowId, input }) => {
    const process = processes.get(name) ?? { name }
    const options = {
      ...startOptions(process, input),
      workflowId,
      taskQueue,
      workflowIdReusePolicy: recurs ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    } as const
    const signal = { signal: RECORD_CHANGED, signalArgs: [] }
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

export function startOptions(
  process: Process,
  { summary, status, amountEuros, deadline, ...input }: StartInput,
) {
  const isOfRecord = isRecordProcess(process)
  return {
    args: [isOfRecord ? { ...input, version: RUN_VERSION } : input],
    staticSummary: summary ?? runSummary(process, input.mode, input),
    // The run of a record shows them itself: each history would store the same text.
    ...(isOfRecord || !process.details ? {} : { staticDetails: process.details }),
    typedSearchAttributes: attributesOf({ ...input, status, amountEuros, deadline }),
  }
}

type Listed = { readonly [Name in keyof StartInput]: StartInput[Name] | undefined }

const attributesOf = ({ ownerId, mode, agentId, status, amountEuros, deadline }: Listed & ProcessInput) =>
  new TypedSearchAttributes([
    { key: OWNER_ATTRIBUTE, value: ownerId },
    { key: MODE_ATTRIBUTE, value: mode },
    ...(agentId ? [{ key: AGENT_ATTRIBUTE, value: agentId }] : []),
    ...(status ? [{ key: STATUS_ATTRIBUTE, value: status }] : []),
    ...(amountEuros === undefined ? [] : [{ key: AMOUNT_ATTRIBUTE, value: amountEuros }]),
    ...(deadline ? [{ key: DEADLINE_ATTRIBUTE, value: new Date(deadline) }] : []),
  ])

import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client'
import type { ProcessStatus } from '../../../src/kernel/contract/process.ts'
import { until } from '../until.ts'
import { temporalClient } from './temporal.ts'

/** The run of a record, as an operator sees it in the Web UI. */
export interface RunSeen {
  readonly handle: WorkflowHandle
  /** `RUNNING`, `COMPLETED`, …; undefined where there is no run. */
  status(): Promise<string | undefined>
  attributes(): Promise<Readonly<Record<string, unknown>>>
  /** What its page says of it just now; nothing where there is no run yet. */
  details(): Promise<string>
  state(): Promise<ProcessStatus | undefined>
  signal(name: string, ...payload: unknown[]): Promise<void>
  /** Waits until its page says so. */
  says(text: string | RegExp): Promise<string>
  /** Waits until it is there. */
  begins(): Promise<void>
  /** Waits for its end, and gives what it ended with. */
  ends(): Promise<unknown>
  /** The lines in its timeline about what was signalled. */
  timeline(): Promise<string[]>
  /** The summaries of its timers: what it has waited for. */
  waits(): Promise<string[]>
  /** The names of its activities, in order. */
  steps(): Promise<string[]>
  /** The same, once there are so many. */
  tells(lines: number): Promise<string[]>
  /** How often a task of it has failed: a failed one is tried again, for ever. */
  failedTasks(): Promise<number>
}

interface Details {
  readonly currentDetails?: string
}

export async function runs(address?: string): Promise<{
  client: Client
  of(record: { workflowId: string | null }): RunSeen
}> {
  const client = await temporalClient(address)
  return { client, of: ({ workflowId }) => runOf(client, String(workflowId)) }
}

function runOf(client: Client, workflowId: string): RunSeen {
  const handle = client.workflow.getHandle(workflowId)
  const status = async () => (await describe(handle))?.status.name
  const summaries = async (isWanted: (event: HistoryEvent) => boolean): Promise<string[]> => {
    const { events } = await handle.fetchHistory()
    const data = (events ?? []).filter(isWanted).flatMap(event => event.userMetadata?.summary?.data ?? [])
    return data.map(bytes => JSON.parse(Buffer.from(bytes).toString()))
  }
  const timeline = () => summaries(isLine)
  const details = async () =>
    (await unlessAbsent(handle.query<Details>('__temporal_workflow_metadata')))?.currentDetails ?? ''
  return {
    handle,
    status,
    details,
    attributes: async () => attributesOf(await describe(handle)),
    state: () => handle.query<ProcessStatus | undefined>('state'),
    signal: (name, ...payload) => handle.signal(name, ...payload),
    async says(text) {
      const has = (said: string) => (typeof text === 'string' ? said.includes(text) : text.test(said))
      const goesOn = historyOf(client, workflowId)
      return until(`${workflowId} says ${text}`, async () => {
        await goesOn()
        const said = await details().catch(unlessMissing)
        return has(said) ? said : undefined
      })
    },
    async begins() {
      await until(`${workflowId} runs`, status)
    },
    async ends() {
      // A server waits for a worker that is gone before it asks another one.
      const goesOn = historyOf(client, workflowId, 'last')
      const ended = async () => {
        await goesOn()
        return (await status()) === 'COMPLETED'
      }
      await until(`${workflowId} ends`, ended, 60_000)
      return handle.result()
    },
    timeline,
    waits: () => summaries(event => Boolean(event.timerStartedEventAttributes) && !isLine(event)),
    async steps() {
      const { events } = await handle.fetchHistory()
      return (events ?? []).flatMap(
        ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
      )
    },
    tells: lines =>
      until(`${workflowId} tells ${lines} lines`, async () => {
        const told = await timeline()
        return told.length >= lines ? told : undefined
      }),
    async failedTasks() {
      const { events } = await handle.fetchHistory()
      const failures = (events ?? []).flatMap(event => event.workflowTaskFailedEventAttributes ?? [])
      return failures.filter(({ cause }) => cause !== OVERTAKEN).length
    },
  }
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number]

/** A line about a signal is a timer of a moment; every other timer is a wait. */
const isLine = ({ timerStartedEventAttributes: timer }: HistoryEvent): boolean =>
  timer?.startToFireTimeout?.nanos === 1_000_000 && !Number(timer.startToFireTimeout.seconds)

const LONGEST_WAIT_MS = 4_000

/** The server's own way to say that a signal has come while a task was ending the run: it is seen to, and nothing is wrong. */
const OVERTAKEN = 1

/** As the server's interface numbers them. */
const EVENTS = { any: 1, last: 2 } as const

/**
 * Waits until something more has happened to a run than when it was last called, or it has ended, instead of asking the
 * server and its worker again and again. Of one that is not there, or not any more, there is nothing to wait for.
 */
function historyOf(
  client: Client,
  workflowId: string,
  which: keyof typeof EVENTS = 'any',
): () => Promise<void> {
  let nextPageToken: Uint8Array | undefined
  const request = {
    namespace: client.options.namespace,
    execution: { workflowId },
    waitNewEvent: true,
    historyEventFilterType: EVENTS[which],
  }
  const ask = () =>
    client.workflowService.getWorkflowExecutionHistory(
      nextPageToken?.length ? { ...request, nextPageToken } : request,
    )
  return async () => {
    const page = await client.connection
      .withDeadline(Date.now() + LONGEST_WAIT_MS, ask)
      .catch(() => undefined)
    nextPageToken = page?.nextPageToken ?? undefined
  }
}

/** One that has not begun yet says nothing. */
function unlessMissing(error: unknown): string {
  if (error instanceof WorkflowNotFoundError) return ''
  throw error
}

type Description = Awaited<ReturnType<WorkflowHandle['describe']>>

const describe = (handle: WorkflowHandle): Promise<Description | undefined> => unlessAbsent(handle.describe())

/** The relay begins a run after the change that it is for: until then there is nothing to ask. */
async function unlessAbsent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined
    throw error
  }
}

const attributesOf = (description: Description | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (description?.typedSearchAttributes.getAll() ?? []).map(({ key, value }) => [key.name, value]),
  )

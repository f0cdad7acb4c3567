import {
  type Client,
  isGrpcDeadlineError,
  ServiceError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import type { ProcessStatus, UpdateAnswer } from '../../../src/kernel/contract/process.ts'
import { DEADLINE_MS, until } from '../until.ts'
import { temporalClient } from './temporal.ts'

/** The run of a record, as an operator sees it in the Web UI. */
export interface RunView {
  readonly handle: WorkflowHandle
  /** `RUNNING`, `COMPLETED`, …; undefined if there is no run. */
  status(): Promise<string | undefined>
  attributes(): Promise<Readonly<Record<string, unknown>>>
  /** The details in the Web UI; empty if there is no run yet. */
  details(): Promise<string>
  /** What its process does, below the details. */
  about(): Promise<string | undefined>
  state(): Promise<ProcessStatus | undefined>
  signal(name: string, ...payload: unknown[]): Promise<void>
  /** Sends an update, and waits for its answer. */
  update(name: string, payload?: unknown, updateId?: string): Promise<UpdateAnswer>
  /** Sends an update that is refused: type and message of its failure. */
  refusal(name: string, payload?: unknown, updateId?: string): Promise<string>
  untilDetails(text: string | RegExp): Promise<string>
  /** Waits until an activity that will be tried again says this of its last attempt. */
  untilPending(text: RegExp): Promise<string>
  untilBegun(): Promise<void>
  untilEnded(): Promise<unknown>
  /** The lines of its timeline about signals. */
  timeline(): Promise<string[]>
  /** The summaries of its timers: each says what the run waited for. */
  timerSummaries(): Promise<string[]>
  /** The names of its activities, in order, without those that a signal cancelled. */
  activityNames(): Promise<string[]>
  historyLength(): Promise<number>
  untilTimeline(lines: number): Promise<string[]>
  /** How many of its workflow tasks failed; Temporal retries a failed task for ever. */
  failedTasks(): Promise<number>
}

interface Details {
  readonly currentDetails?: string
}

export async function runViewer(address?: string): Promise<{
  client: Client
  of(record: { workflowId: string | null }): RunView
}> {
  const client = await temporalClient(address)
  return { client, of: ({ workflowId }) => runOf(client, String(workflowId)) }
}

function runOf(client: Client, workflowId: string): RunView {
  const handle = client.workflow.getHandle(workflowId)
  const status = async () => (await describe(handle))?.status.name
  const summaries = async (isWanted: (event: HistoryEvent) => boolean): Promise<string[]> => {
    const { events } = await handle.fetchHistory()
    const data = (events ?? []).filter(isWanted).flatMap(event => event.userMetadata?.summary?.data ?? [])
    return data.map(bytes => JSON.parse(Buffer.from(bytes).toString()))
  }
  const timeline = () => summaries(isLine)
  const page = async () =>
    ((await unlessAbsent(handle.query<Details>('__temporal_workflow_metadata')))?.currentDetails ?? '').split(
      '\n\n---\n\n',
    )
  const details = async () => (await page())[0] ?? ''
  return {
    handle,
    status,
    details,
    about: async () => (await page())[1],
    attributes: async () => attributesOf(await describe(handle)),
    state: () => handle.query<ProcessStatus | undefined>('state'),
    signal: (name, ...payload) => handle.signal(name, ...payload),
    update: (name, payload, updateId) => updateOf(handle, name, payload, updateId),
    async refusal(name, payload, updateId) {
      const refused = await updateOf(handle, name, payload, updateId).catch((error: unknown) => error)
      if (!(refused instanceof WorkflowUpdateFailedError)) throw refused
      const { cause } = refused
      return cause instanceof ApplicationFailure ? `${cause.type}: ${cause.message}` : String(cause)
    },
    untilPending: text =>
      until(`${workflowId} has an activity with ${text}`, async () => {
        const pending = (await describe(handle))?.raw.pendingActivities ?? []
        return pending.map(({ lastFailure }) => lastFailure?.message ?? '').find(shown => text.test(shown))
      }),
    async untilDetails(text) {
      const matches = (shown: string) => (typeof text === 'string' ? shown.includes(text) : text.test(shown))
      const nextEvent = historyOf(client, workflowId)
      return until(`${workflowId} shows ${text}`, async () => {
        await nextEvent()
        const shown = await details().catch(unlessMissing)
        return matches(shown) ? shown : undefined
      })
    },
    async untilBegun() {
      await until(`${workflowId} begins`, status)
    },
    async untilEnded() {
      // Longer than usual: the server waits for a worker that is gone before it asks another one.
      const nextEvent = historyOf(client, workflowId, 'last')
      const ended = async () => {
        await nextEvent()
        return (await status()) === 'COMPLETED'
      }
      await until(`${workflowId} ends`, ended, 2 * DEADLINE_MS)
      return handle.result()
    },
    timeline,
    timerSummaries: () => summaries(event => Boolean(event.timerStartedEventAttributes) && !isLine(event)),
    async activityNames() {
      const { events } = await handle.fetchHistory()
      const canceled = new Set(
        (events ?? []).flatMap(({ activityTaskCanceledEventAttributes: end }) =>
          end ? String(end.scheduledEventId) : [],
        ),
      )
      return (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
        canceled.has(String(eventId)) ? [] : (scheduled?.activityType?.name ?? []),
      )
    },
    historyLength: async () => (await handle.describe()).historyLength,
    untilTimeline: lines =>
      until(`${workflowId} has ${lines} lines about signals`, async () => {
        const shown = await timeline()
        return shown.length >= lines ? shown : undefined
      }),
    async failedTasks() {
      const { events } = await handle.fetchHistory()
      const failures = (events ?? []).flatMap(event => event.workflowTaskFailedEventAttributes ?? [])
      return failures.filter(({ cause }) => cause !== OVERTAKEN).length
    },
  }
}

function updateOf(
  handle: WorkflowHandle,
  name: string,
  payload: unknown,
  updateId?: string,
): Promise<UpdateAnswer> {
  const once = updateId === undefined ? {} : { updateId }
  return payload === undefined
    ? handle.executeUpdate<UpdateAnswer, []>(name, once)
    : handle.executeUpdate<UpdateAnswer, [unknown]>(name, { args: [payload], ...once })
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number]

/** Whether a timer is a line about a signal, which lasts a millisecond; every other timer is a wait. */
const isLine = ({ timerStartedEventAttributes: timer }: HistoryEvent): boolean =>
  timer?.startToFireTimeout?.nanos === 1_000_000 && !Number(timer.startToFireTimeout.seconds)

const LONGEST_WAIT_MS = 4_000

/**
 * The cause of a failed task that was ending the run when a signal arrived: the server repeats it, and
 * nothing is wrong.
 */
const OVERTAKEN = 1

/** The server's numbers for the events to wait for. */
const EVENTS = { any: 1, last: 2 } as const

/**
 * Returns a function that waits for the next event of a run, or its end, which is cheaper than polling the
 * server and its worker. It returns at once if there is no run, or no longer.
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

/** A run that has not begun yet has no details, and a busy worker may answer too late. */
function unlessMissing(error: unknown): string {
  if (error instanceof WorkflowNotFoundError) return ''
  if (error instanceof ServiceError && isGrpcDeadlineError(error.cause)) return ''
  throw error
}

type Description = Awaited<ReturnType<WorkflowHandle['describe']>>

const describe = (handle: WorkflowHandle): Promise<Description | undefined> => unlessAbsent(handle.describe())

/** Undefined if there is no run: the relay starts it only after the change. */
async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined
    throw error
  }
}

const attributesOf = (description: Description | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (description?.typedSearchAttributes.getAll() ?? []).map(({ key, value }) => [key.name, value]),
  )

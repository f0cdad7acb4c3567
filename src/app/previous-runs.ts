import { Client, Connection, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client'
import type { TemporalAccess } from './temporal-access.ts'

const CONNECT_MS = 5_000
const AT_ONCE = 16
const REASON = 'Its record was taken over by a newer version, which begins a new run for it.'

type Tell = (line: string) => void

/**
 * Ends the open runs of the version before, whose histories this version's workflows cannot replay, and lists the
 * signals that wait in them: what operators had asked of them and was not carried out. The relay starts new ones from
 * the records. Call it while no relay or worker runs, and again if it was interrupted.
 */
export async function endPreviousRuns(
  { client, namespace, taskQueue }: TemporalAccess,
  tell: Tell,
): Promise<void> {
  const connection = await Connection.connect({ ...client, connectTimeout: CONNECT_MS })
  try {
    const count = await endAll(new Client({ connection, namespace }), taskQueue, tell)
    tell(`The data is of the version before: ${count} open runs are ended. The relay begins them anew.`)
  } finally {
    await connection.close()
  }
}

/** Returns how many it has ended. */
async function endAll({ workflow }: Client, taskQueue: string, tell: Tell): Promise<number> {
  const query = `TaskQueue = '${taskQueue}' and ExecutionStatus = 'Running'`
  const known = new Set<string>()
  let count = 0
  // The list lags behind: ended runs may still be in it, and the newest runs may be missing.
  for (let before = -1; before < known.size; ) {
    before = known.size
    const found: WorkflowHandle[] = []
    for await (const { workflowId, runId } of workflow.list({ query }))
      if (!known.has(runId)) {
        known.add(runId)
        found.push(workflow.getHandle(workflowId, runId))
      }
    for (let from = 0; from < found.length; from += AT_ONCE) {
      const ended = await Promise.all(found.slice(from, from + AT_ONCE).map(run => endOne(run, tell)))
      count += ended.filter(isEnded => isEnded).length
    }
  }
  return count
}

/** Prints the signals before they are lost with the run, and then those that came meanwhile. False if it had ended. */
async function endOne(run: WorkflowHandle, tell: Tell): Promise<boolean> {
  let told = 0
  const tellNew = async () => {
    const { asked, carriedOut } = signalsIn((await run.fetchHistory()).events ?? [])
    for (const verb of asked.slice(Math.max(carriedOut, told)))
      tell(`Not carried out, send it again once the worker runs: ${run.workflowId} ${verb}`)
    told = asked.length
  }
  try {
    await tellNew()
    await run.terminate(REASON)
    await tellNew()
    return true
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}

type History = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>

/** The runs of 0.7.0 with signals: the activity that carries them out, and their names. */
const SIGNALS: Readonly<Record<string, readonly [decide: string, ...verbs: string[]]>> = {
  intent: ['decideIntent', 'approve', 'deny', 'cancel'],
  card: ['decideCard', 'freeze', 'unfreeze', 'close'],
  transfer: ['decideTransfer', 'confirmPayee', 'cancel'],
  'card-request': ['answerCardRequest', 'approve', 'deny', 'cancel'],
  onboarding: ['answerOnboarding', 'approve', 'reject', 'requestInformation'],
  collect: ['answerPaymentRequest', 'cancel'],
  recovery: ['answerRecovery', 'cancel'],
  refund: ['answerRefund', 'cancel'],
  mandate: ['changeMandate', 'suspend', 'resume', 'revoke'],
  mpp: ['resolveMachinePayment', 'paid', 'notPaid'],
  webhook: ['retryDeliveryNow', 'retryNow'],
}

interface RunSignals {
  readonly asked: readonly string[]
  readonly carriedOut: number
}

/** A run carries out its signals one by one, in order: the last ones, which no activity has completed yet, wait. */
function signalsIn(events: History): RunSignals {
  const type = events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name
  const [decide, ...verbs] = SIGNALS[String(type)] ?? []
  const decisions = new Set<string>()
  const asked: string[] = []
  let carriedOut = 0
  for (const event of events) {
    const { activityType } = event.activityTaskScheduledEventAttributes ?? {}
    if (activityType && activityType.name === decide) decisions.add(String(event.eventId))
    const { scheduledEventId } = event.activityTaskCompletedEventAttributes ?? {}
    if (decisions.has(String(scheduledEventId))) carriedOut++
    const verb = event.workflowExecutionCancelRequestedEventAttributes
      ? 'cancel'
      : event.workflowExecutionSignaledEventAttributes?.signalName
    if (verb && verbs.includes(verb)) asked.push(verb)
  }
  return { asked, carriedOut }
}

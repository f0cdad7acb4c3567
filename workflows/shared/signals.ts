import { currentUpdateInfo, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow'
import {
  DECISION_PAYLOAD_EXAMPLE,
  type ProcessInput,
  RECORD_CHANGED_SIGNAL,
  type UpdateAnswer,
} from '../../src/kernel/contract/process.ts'
import { addNoteToTimeline } from './run-page.ts'
import { answerUpdate, type Caller, validateUpdate } from './updates.ts'

interface Signalled {
  readonly verb: string
  readonly payload: unknown
  readonly updateId?: string
}

/** Carries out a signal or an update, and gives a line about it for the operator. */
export type Decide = (signalled: ProcessInput & Signalled) => Promise<string>

/** What each signal does, as the Web UI tells it. */
export type SignalEffects = Readonly<Record<string, string>>

interface Received {
  readonly decide?: Decide | undefined
  readonly signals?: SignalEffects
  /** The signals carry no name. */
  readonly withoutPayload?: boolean
  /** Why nothing changes the record any more; undefined while it may be open. */
  readonly whyOver?: () => string | undefined
}

interface Given {
  /** About the last signal. */
  readonly line?: string | undefined
  /** Tells the caller of the update, once the record was read. */
  readonly answer?: (status: string) => Promise<void>
}

interface SignalHandling {
  arePending(): boolean
  /** Carries out signals and updates in order, up to the first update: it is answered with the status after it. */
  give(): Promise<Given>
  /** The effect of "Request Cancellation", if one of the signals is `cancel`. */
  readonly cancel?: () => void
  readonly withoutPayload: readonly string[]
}

/** Ends the line about a signal that was carried out, whose effect is visible without the line. */
const DONE = ': done.'

const REQUESTED = { by: 'Request Cancellation', comment: 'Cancelled by Request Cancellation in Temporal.' }

/**
 * Receives what operators decide, by a signal or by an update of the same name: a refused signal is a line in the timeline, an
 * update is answered to its caller.
 */
export function receiveSignals(
  input: ProcessInput,
  { decide, signals = {}, withoutPayload = false, whyOver }: Received,
): SignalHandling {
  if (!decide) return { arePending: () => false, give: async () => ({}), withoutPayload: [] }
  const waiting: (Signalled & { readonly caller?: Caller })[] = []
  const arePending = () => waiting.length > 0
  for (const [verb, effect] of Object.entries(signals)) {
    const description = withoutPayload ? effect : `${effect} Payload: ${DECISION_PAYLOAD_EXAMPLE}`
    const queue = (payload: unknown) => void waiting.push({ verb, payload })
    const ask = (payload: unknown) => {
      const caller: Caller = Promise.withResolvers()
      waiting.push({ verb, payload, updateId: String(currentUpdateInfo()?.id), caller })
      return caller.promise
    }
    const validator = (payload: unknown) => validateUpdate(payload, { withoutPayload, whyOver })
    setHandler(defineSignal<[unknown]>(verb), queue, { description })
    setHandler(defineUpdate<UpdateAnswer, [unknown]>(verb), ask, { description, validator })
  }
  const cancel = () => void waiting.push({ verb: 'cancel', payload: REQUESTED })
  return {
    arePending,
    async give() {
      let line: string | undefined
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { caller, ...signalled } = next
        const decided = decide({ ...input, ...signalled })
        if (caller) {
          // What cannot be decided at all fails the update, and not the run.
          const said = await decided.catch(() => `The update ${signalled.verb} failed. See the worker’s log.`)
          const isDone = said.endsWith(DONE)
          return {
            line: said,
            answer: status => answerUpdate(caller, { isDone, status, line: said }, arePending),
          }
        }
        line = await decided
        if (!line.endsWith(DONE)) await addNoteToTimeline(line)
      }
      return { line }
    },
    withoutPayload: withoutPayload ? Object.keys(signals) : [],
    ...('cancel' in signals ? { cancel } : {}),
  }
}

export function handleRecordChanged(handler: () => void): void {
  setHandler(defineSignal(RECORD_CHANGED_SIGNAL), handler, {
    description: 'The record is read again. Sent by the service, whenever the record has changed.',
  })
}

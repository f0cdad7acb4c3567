import { defineSignal, setHandler } from '@temporalio/workflow'
import {
  DECISION_PAYLOAD_EXAMPLE,
  type ProcessInput,
  RECORD_CHANGED_SIGNAL,
} from '../../src/kernel/contract/process.ts'
import { addNoteToTimeline } from './run-page.ts'

interface Signalled {
  readonly verb: string
  readonly payload: unknown
}

/** Carries out a signal, and gives a line about it for the operator. */
export type Decide = (signalled: ProcessInput & Signalled) => Promise<string>

/** What each signal does, as the Web UI tells it. */
export type SignalEffects = Readonly<Record<string, string>>

interface Received {
  readonly decide?: Decide | undefined
  readonly signals?: SignalEffects
  /** The signals carry no name. */
  readonly withoutPayload?: boolean
}

interface SignalHandling {
  arePending(): boolean
  /** Carries out the signals in order. Returns a line about the last one. */
  give(): Promise<string | undefined>
  /** The effect of "Request Cancellation", if one of the signals is `cancel`. */
  readonly cancel?: () => void
  readonly withoutPayload: readonly string[]
}

/** Ends the line about a signal that was carried out, whose effect is visible without the line. */
const DONE = ': done.'

const REQUESTED = { by: 'Request Cancellation', comment: 'Cancelled by Request Cancellation in Temporal.' }

/** Receives the signals of operators; each is answered by a line. */
export function receiveSignals(
  input: ProcessInput,
  { decide, signals = {}, withoutPayload = false }: Received,
): SignalHandling {
  if (!decide) return { arePending: () => false, give: async () => undefined, withoutPayload: [] }
  const waiting: Signalled[] = []
  for (const [verb, effect] of Object.entries(signals)) {
    const description = withoutPayload ? effect : `${effect} Payload: ${DECISION_PAYLOAD_EXAMPLE}`
    const queue = (payload: unknown) => void waiting.push({ verb, payload })
    setHandler(defineSignal<[unknown]>(verb), queue, { description })
  }
  const cancel = () => void waiting.push({ verb: 'cancel', payload: REQUESTED })
  return {
    arePending: () => waiting.length > 0,
    async give() {
      let line: string | undefined
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        line = await decide({ ...input, ...next })
        if (!line.endsWith(DONE)) await addNoteToTimeline(line)
      }
      return line
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

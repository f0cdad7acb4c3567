import { defineSignal, setHandler } from '@temporalio/workflow'
import {
  DECISION_PAYLOAD_EXAMPLE,
  type ProcessInput,
  type RecordProcess,
} from '../../src/kernel/contract/process.ts'
import { addNoteToTimeline } from './run-page.ts'
import { proxyActivity } from './steps.ts'

interface Signalled {
  readonly verb: string
  readonly payload: unknown
}

export interface SignalHandling {
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

/** Answers the signals of a process by its activity `decide`, each with a line for the operator. */
export function handleSignals(process: RecordProcess, input: ProcessInput): SignalHandling {
  const { decide, signals = {}, withoutPayload = false } = process
  if (!decide) return { arePending: () => false, give: async () => undefined, withoutPayload: [] }
  const carryOut = proxyActivity<ProcessInput & Signalled, string>(decide, {
    summary: 'Carry out the signal of an operator',
  })
  const waiting: Signalled[] = []
  for (const [verb, { effect }] of Object.entries(signals)) {
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
        line = await carryOut({ ...input, ...next })
        if (!line.endsWith(DONE)) await addNoteToTimeline(line)
      }
      return line
    },
    withoutPayload: withoutPayload ? Object.keys(signals) : [],
    ...('cancel' in signals ? { cancel } : {}),
  }
}

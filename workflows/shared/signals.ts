import { defineSignal, setHandler } from '@temporalio/workflow'
import { DECISION_PAYLOAD, type SignalTable } from '../../src/kernel/contract/process.ts'
import { addToTimeline } from './run-page.ts'

interface Signalled<Verb> {
  readonly verb: Verb
  readonly payload: unknown
}

/** How a run answers the signals of operators. */
export interface Answers {
  /** Whether a signal has come that is not answered yet. */
  areDue(): boolean
  /** Carries out what was signalled, in order. Gives a line about the last one. */
  give(): Promise<string | undefined>
  /** The effect of "Request Cancellation", where one of the signals is `cancel`. */
  readonly cancel?: () => void
  readonly withoutPayload: readonly string[]
}

/** Ends the line about a signal that was carried out: its effect is seen without the line. */
const DONE = ': done.'

/** Payload of the signal that "Request Cancellation" stands for: it comes without a name. */
const REQUESTED = { by: 'Request Cancellation', comment: 'Cancelled by Request Cancellation in Temporal.' }

/** Answers these signals by `decide`, each with a line for the operator. */
export function answersTo<Table extends SignalTable>(
  table: Table,
  decide: (signalled: Signalled<keyof Table & string>) => Promise<string>,
  { withPayload = true } = {},
): Answers {
  const waiting: Signalled<keyof Table & string>[] = []
  for (const [verb, effect] of Object.entries(table)) {
    const description = withPayload ? `${effect} Payload: ${DECISION_PAYLOAD}` : effect
    const queue = (payload: unknown) => void waiting.push({ verb, payload })
    setHandler(defineSignal<[unknown]>(verb), queue, { description })
  }
  const cancel = () => void waiting.push({ verb: 'cancel', payload: REQUESTED })
  return {
    areDue: () => waiting.length > 0,
    async give() {
      let line: string | undefined
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        line = await decide(next)
        if (!line.endsWith(DONE)) await addToTimeline(line)
      }
      return line
    },
    withoutPayload: withPayload ? [] : Object.keys(table),
    ...('cancel' in table ? { cancel } : {}),
  }
}

import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import { LOOK_AGAIN, type Look, type ProcessInput, STATUS_ATTRIBUTE } from '../src/kernel/process.ts'

const lookAgain = defineSignal(LOOK_AGAIN)
const stateQuery = defineQuery<Look | undefined>('state')

/** What is overdue and yet not done is tried again after this long. */
const AGAIN_AFTER = 1_000

/** What a process does besides looking. */
interface Duties<Seen extends Look> {
  /** Reads the record as it stands. */
  look(): Promise<Seen>
  /** The deadline has come of what was seen. */
  due(seen: Seen): Promise<unknown>
  /** Does what has been signalled since; gives a line about it for the operator. */
  attend?(): Promise<string | undefined>
  /** Whether there is anything to attend to. */
  isAsked?(): boolean
  /** What is closed may be open again by the time that it is told to look. */
  readonly recurs?: boolean
}

/** Waits for the instant or for the reason not to wait any longer: the one way in which any process waits. */
export const waitUntil = (inMs: number | null, orUntil: () => boolean): Promise<unknown> =>
  inMs === null ? condition(orUntil) : condition(orUntil, Math.max(inMs, 1))

/** What a person asks for from the Web UI: each in turn, when the run comes to it. Gives a line about the last one. */
export function signals<Verb extends string>(
  verbs: readonly Verb[],
  decide: (asked: { verb: Verb; payload: unknown }) => Promise<string>,
) {
  const asked: { verb: Verb; payload: unknown }[] = []
  for (const verb of verbs)
    setHandler(defineSignal<[unknown]>(verb), payload => {
      asked.push({ verb, payload })
    })
  return {
    isAsked: () => asked.length > 0,
    async attend() {
      let note: string | undefined
      for (let next = asked.shift(); next; next = asked.shift()) note = await decide(next)
      return note
    },
  }
}

/** Looks, waits, acts, and looks again, until nothing about the record is open any more. */
export async function follow<Seen extends Look>(
  input: ProcessInput,
  { look, due, attend, isAsked, recurs }: Duties<Seen>,
): Promise<string> {
  let toldToLook = false
  let seen: Seen | undefined
  let shown: string | undefined
  let note: string | undefined
  setHandler(lookAgain, () => {
    toldToLook = true
  })
  setHandler(stateQuery, () => seen)
  for (;;) {
    toldToLook = false
    note = (await attend?.()) ?? note
    seen = await look()
    if (seen.status !== shown) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: seen.status }])
    shown = seen.status
    setCurrentDetails([seen.summary, ...(note ? [note] : [])].map(inOneLine).join('\n\n'))
    const seenTooEarly = recurs && toldToLook
    if (seen.closed && !seenTooEarly && !isAsked?.()) return seen.status
    if (workflowInfo().continueAsNewSuggested && !isAsked?.()) await continueAsNew(input)
    const overdue = seen.dueInMs !== null && seen.dueInMs <= 0
    if (overdue) await due(seen)
    const restless = () => toldToLook || (isAsked?.() ?? false)
    await waitUntil(overdue ? AGAIN_AFTER : seen.dueInMs, restless)
  }
}

/** The page of a run is Markdown: the words of others make no second line, no link and no other direction of it. */
const inOneLine = (text: string): string =>
  text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').replace(/[\\`*[\]<>#|]/g, '\\$&')

import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  patched,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import { LOOK_AGAIN, type Look, type ProcessInput, STATUS_ATTRIBUTE } from '../src/kernel/contract/process.ts'

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
  /** What "Request Cancellation" asks for, where operators may ask for that. */
  cancel?(): void
  /** What is closed may be open again by the time that it is told to look. */
  readonly recurs?: boolean
}

/** Waits for the instant or for the reason not to wait any longer: the one way in which any process waits. */
export const waitUntil = (inMs: number | null, orUntil: () => boolean): Promise<unknown> =>
  inMs === null ? condition(orUntil) : condition(orUntil, Math.max(inMs, 1))

/** What an operator is told in a summary may be so many bytes long, by the server's limit of 400 for all of it. */
const SUMMARY_BYTES = 300

/**
 * Shows a line in the timeline of the run, which is what an operator sees first: a timer of a moment has it as its
 * summary. Runs that were signalled before there was such a line go on without one.
 */
export async function tell(note: string): Promise<void> {
  if (!patched('signals-are-answered')) return
  let summary = note.replace(UNPRINTABLE, ' ')
  while (new TextEncoder().encode(summary).length > SUMMARY_BYTES) summary = `${summary.slice(0, -9)}…`
  await CancellationScope.nonCancellable(() => sleep(1, { summary }))
}

/** "Request Cancellation" is heard and ends nothing by itself: a run ends when its record has. */
export function heedCancellation<T>(asked: () => void, work: () => Promise<T>): Promise<T> {
  CancellationScope.current().cancelRequested.catch(asked)
  return CancellationScope.nonCancellable(work)
}

interface Signalled<Verb> {
  readonly verb: Verb
  readonly payload: unknown
}

/** How the line about a signal ends that was carried out: its effect is seen without it. */
const DONE = ': done.'

/** Comes without a name. */
const REQUESTED = { by: 'Request Cancellation', comment: 'Cancelled by Request Cancellation in Temporal.' }

/** What a person asks for from the Web UI: each in turn, when the run comes to it. Gives a line about the last one. */
export function signals<Verb extends string>(
  verbs: readonly Verb[],
  decide: (asked: Signalled<Verb>) => Promise<string>,
) {
  const asked: Signalled<Verb>[] = []
  for (const verb of verbs)
    setHandler(defineSignal<[unknown]>(verb), payload => {
      asked.push({ verb, payload })
    })
  const cancel = verbs.find(verb => verb === 'cancel')
  return {
    isAsked: () => asked.length > 0,
    async attend() {
      let note: string | undefined
      for (let next = asked.shift(); next; next = asked.shift()) {
        note = await decide(next)
        if (!note.endsWith(DONE)) await tell(note)
      }
      return note
    },
    ...(cancel && { cancel: () => void asked.push({ verb: cancel, payload: REQUESTED }) }),
  }
}

const CANNOT_BE_CANCELLED =
  'Request Cancellation changed nothing: the run goes on until its record has ended.'

/** Looks, waits, acts, and looks again, until nothing about the record is open any more. */
export function follow<Seen extends Look>(input: ProcessInput, duties: Duties<Seen>): Promise<string> {
  const notes = notepad()
  const cancel = duties.cancel ?? (() => notes.add(CANNOT_BE_CANCELLED))
  return heedCancellation(cancel, () => attendTo(input, duties, notes))
}

async function attendTo<Seen extends Look>(
  input: ProcessInput,
  { look, due, attend, isAsked, recurs }: Duties<Seen>,
  notes: Notepad,
): Promise<string> {
  let toldToLook = false
  let seen: Seen | undefined
  let shown: string | undefined
  setHandler(lookAgain, () => {
    toldToLook = true
  })
  setHandler(stateQuery, () => seen)
  setDefaultSignalHandler(name =>
    notes.add(`A signal ${name.slice(0, 50)} was ignored: no such signal is known.`),
  )
  for (;;) {
    toldToLook = false
    const note = await attend?.()
    seen = await look()
    if (seen.status !== shown) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: seen.status }])
    shown = seen.status
    notes.show({ summary: seen.summary, note })
    const seenTooEarly = recurs && toldToLook
    if (seen.closed && !seenTooEarly && !isAsked?.()) return seen.status
    if (workflowInfo().continueAsNewSuggested && !isAsked?.()) await continueAsNew(input)
    const overdue = seen.dueInMs !== null && seen.dueInMs <= 0
    if (overdue) await due(seen)
    const restless = () => toldToLook || (isAsked?.() ?? false)
    await waitUntil(overdue ? AGAIN_AFTER : seen.dueInMs, restless)
  }
}

type Notepad = ReturnType<typeof notepad>

/** What the page of the run says: how its record stands, and below that what became of the last thing asked for. */
function notepad() {
  let summary = ''
  let note: string | undefined
  const show = (news: { readonly summary?: string; readonly note?: string | undefined }): void => {
    summary = news.summary ?? summary
    note = news.note ?? note
    setCurrentDetails([summary, note ?? ''].filter(Boolean).map(inOneLine).join('\n\n'))
  }
  return {
    show,
    add(line: string) {
      show({ note: line })
      void tell(line)
    },
  }
}

const UNPRINTABLE = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu

/** The page of a run is Markdown: the words of others make no second line, no link and no other direction of it. */
const inOneLine = (text: string): string => text.replace(UNPRINTABLE, ' ').replace(/[\\`*[\]<>#|]/g, '\\$&')

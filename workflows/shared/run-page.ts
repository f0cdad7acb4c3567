import { CancellationScope, setCurrentDetails, sleep } from '@temporalio/workflow'
import { DECISION_PAYLOAD_EXAMPLE, type ProcessStatus } from '../../src/kernel/contract/process.ts'

/** The server allows 400 bytes for a summary and its envelope. */
const SUMMARY_BYTES = 300

const UNPRINTABLE = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu

/** Shortened if it is too long for the server. */
export function workflowSummaryLine(text: string): string {
  let summary = text.replace(UNPRINTABLE, ' ')
  while (new TextEncoder().encode(summary).length > SUMMARY_BYTES) summary = `${summary.slice(0, -9)}…`
  return summary
}

/** The timeline is what an operator sees first. A line in it is the summary of a timer of a moment. */
export async function addNoteToTimeline(note: string): Promise<void> {
  await CancellationScope.nonCancellable(() => sleep(1, { summary: workflowSummaryLine(note) }))
}

interface PageParts {
  readonly withoutPayload: readonly string[]
  /** What the process does, where the run was not started with it. */
  readonly details?: string | undefined
}

/**
 * Current details of the run: its record, what it waits for, what an operator can do, the answer to the last
 * signal, and what happened outside the run. Temporal asks for them and does not store them.
 */
export function workflowDetailsPage({ withoutPayload, details = '' }: PageParts) {
  let status: ProcessStatus | undefined
  let answer = ''
  function render(): void {
    const paragraphs = [
      escaped(status?.summary ?? ''),
      ...waitingText(status, withoutPayload),
      escaped(answer),
      status?.page ? `[Open the record](${status.page})` : '',
      (status?.steps ?? []).map(step => `- ${escaped(step)}`).join('\n'),
    ]
    const page = paragraphs.filter(Boolean).join('\n\n')
    setCurrentDetails(details ? `${page}\n\n---\n\n${details}` : page)
  }
  return {
    show(current: ProcessStatus, latestAnswer?: string): void {
      status = current
      answer = latestAnswer ?? answer
      render()
    },
    note(line: string): void {
      answer = line
      render()
      void addNoteToTimeline(line)
    },
  }
}

function waitingText(status: ProcessStatus | undefined, withoutPayload: readonly string[]): string[] {
  const { waitsFor, signals = [] } = status ?? {}
  if (!waitsFor) return []
  return [`It waits **${escaped(waitsFor)}**.`, ...signalHelp(signals, withoutPayload)]
}

/** The payload has its own paragraph: the page cuts off a line of code that is too long. */
function signalHelp(signals: readonly string[], withoutPayload: readonly string[]): string[] {
  if (signals.length === 0) return ['No signal changes anything just now.']
  const names = signals.map(name => `\`${name}\``)
  const last = names.pop() ?? ''
  const choice = names.length > 0 ? `${names.join(', ')} or ${last}` : last
  if (signals.some(name => withoutPayload.includes(name)))
    return [`Send an Update, which is answered, or a Signal: ${choice}, without a payload.`]
  return [
    `Send an Update, which is answered, or a Signal: ${choice}, with this payload:`,
    `\`${DECISION_PAYLOAD_EXAMPLE}\``,
  ]
}

/** The page of a run is Markdown: foreign text must add no line, no link and no change of writing direction. */
const escaped = (text: string): string => text.replace(UNPRINTABLE, ' ').replace(/[\\`*[\]<>#|]/g, '\\$&')

import type { Process } from '../../kernel/contract/process.ts'

/** Begins when an intent waits for a person; ends when the intent is completed, cancelled, denied or expired. */
export const intentProcess = {
  name: 'intent',
  title: 'Intent',
  details: `Waits until a person has approved the intent, then until it is paid. What is not done by the deadline expires.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it and holds its money.
- \`deny\` denies it and ends the run.
- \`cancel\`, or *Request Cancellation*, cancels it and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /intents/{id}/approve\`.`,
} as const satisfies Process

/** The signals that approvers send from the Web UI or the command line, and what each does. */
export const intentSignals = {
  approve: 'Approves the intent and holds its money.',
  deny: 'Denies the intent and ends the run.',
  cancel: 'Cancels the intent and ends the run.',
} as const
export type IntentSignal = keyof typeof intentSignals

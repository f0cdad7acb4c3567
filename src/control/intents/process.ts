import type { DurableProcess } from '../../kernel/contract/process.ts'

/** Begins when an intent waits for a person, and ends when the intent is completed, cancelled, denied or expired. */
export const intentProcess = {
  name: 'intent',
  title: 'Intent',
  details: `Waits until a person approves the intent, or several by the steps of the policy, then until it is paid. At its deadline an open intent expires.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it and holds its money. It is refused where the policy asks for passkeys, or for several people by steps.
- \`deny\` denies it and ends the run.
- \`cancel\`, or *Request Cancellation*, cancels it and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /intents/{id}/approve\`.`,
  newIn: ['created'],
} as const satisfies DurableProcess

export type IntentSignal = 'approve' | 'deny' | 'cancel'

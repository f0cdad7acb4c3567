import type { Process } from '../../kernel/contract/process.ts'

/** Exists while a transfer by SEPA is under way. */
export const transferProcess = {
  name: 'transfer',
  title: 'Transfer',
  details: `Asks the payee’s bank about the name, submits the payment once, and asks the rail until it has ended. A payee whose name is doubtful waits for a person; what nobody confirms in time is cancelled.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`confirmPayee\` pays although the name is doubtful.
- \`cancel\`, or *Request Cancellation*, cancels what is not submitted yet and frees its money.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /transfers/{id}/confirm-payee\`.`,
} as const satisfies Process

/** The process of a transfer that had ended already: a recall begins it anew. */
export const recallProcess = { ...transferProcess, recurs: true } as const satisfies Process

/** Signals of a person, from the Web UI or the command line, and what each does. */
export const transferSignals = {
  confirmPayee: 'Pays although the name of the payee is doubtful.',
  cancel: 'Cancels what is not submitted yet and frees its money.',
} as const
export type TransferSignal = keyof typeof transferSignals

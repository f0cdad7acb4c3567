import type { DurableProcess } from '../../kernel/contract/process.ts'

export const transferProcess = {
  name: 'transfer',
  title: 'Transfer',
  details: `Asks the payee’s bank about the name, submits the payment once, and asks the rail until it has ended. A transfer with a doubtful payee name waits for a person, and is cancelled without a confirmation in time.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`confirmPayee\` pays although the name is doubtful. It is refused where the agent’s policy asks several people for the amount.
- \`cancel\`, or *Request Cancellation*, cancels an unsubmitted transfer and releases its hold.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /transfers/{id}/confirm-payee\`.`,
  newIn: ['created'],
} as const satisfies DurableProcess

/** A recall starts the process of a completed transfer again. */
export const recallProcess = { ...transferProcess, recurs: true } as const satisfies DurableProcess

export type TransferSignal = 'confirmPayee' | 'cancel'

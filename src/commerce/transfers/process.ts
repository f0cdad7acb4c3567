import type { ProcessStatus, RecordProcess } from '../../kernel/contract/process.ts'

export const transferProcess = {
  name: 'transfer',
  title: 'Transfer',
  details: `Asks the payee’s bank about the name, submits the payment once, and asks the rail until it has ended. A transfer with a doubtful payee name waits for a person, and is cancelled without a confirmation in time.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`confirmPayee\` pays although the name is doubtful.
- \`cancel\`, or *Request Cancellation*, cancels an unsubmitted transfer and releases its hold.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /transfers/{id}/confirm-payee\`.`,
  newIn: ['created'],
  read: { activity: 'readTransfer', operation: 'transfers.status', summary: 'Status of the transfer' },
  decide: 'decideTransfer',
  signals: {
    confirmPayee: {
      effect: 'Pays although the name of the payee is doubtful.',
      operation: 'transfers.confirmPayee',
    },
    cancel: {
      effect: 'Cancels an unsubmitted transfer and releases its hold.',
      operation: 'transfers.cancel',
    },
  },
  steps: {
    verifyPayee: {
      operation: 'transfers.verify',
      callsOutside: true,
      summary: 'Ask the payee’s bank about the name',
    },
    cancelUnconfirmed: {
      operation: 'transfers.lapse',
      summary: 'Cancel the transfer, whose payee was not confirmed in time, and release its money',
    },
    submitPayment: {
      operation: 'transfers.submit',
      callsOutside: true,
      summary: 'Submit the payment to the rail, once',
    },
    askRail: { operation: 'transfers.inquire', callsOutside: true, summary: 'Ask the rail for the outcome' },
  },
} as const satisfies RecordProcess

/** A recall starts the process of a completed transfer again. */
export const recallProcess = { ...transferProcess, recurs: true } as const satisfies RecordProcess

export interface TransferProcessStatus extends ProcessStatus {
  readonly next: 'verify' | 'submit' | 'inquire' | 'lapse' | null
}

export type TransferSignal = keyof typeof transferProcess.signals

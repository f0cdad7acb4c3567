import type { ProcessStatus, RecordProcess } from '../../kernel/contract/process.ts'

/**
 * Begins with the commit before the first byte of a credential leaves; ends with a statement of the merchant,
 * the network, the owner or the deadline.
 */
export const mppProcess = {
  name: 'mpp',
  title: 'Machine payment',
  details: `Looks after one machine payment. The request itself asks the merchant, checks its offer, mints the credential and sends it, once; this run takes over what the request leaves: a service that was stopped in between, a merchant that is silent, an outcome that nobody knows. Nothing is ever minted or sent again.

While the outcome is open the money stays held. The card network ends it by an authorization, a clearing or a decline of the token; after 31 days it counts as not paid, and the token is revoked.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`paid\` takes the payment as made: the money is captured.
- \`notPaid\` takes it as not made: the token is revoked, and the intent is free again.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /v1/mpp/credentials/{id}/resolve\`.`,
  read: { activity: 'readMachinePayment', operation: 'mpp.status', summary: 'Status of the machine payment' },
  decide: 'resolveMachinePayment',
  signals: {
    paid: {
      effect: 'Takes the payment as made: the money is captured.',
      operation: 'mpp.resolve',
      body: (_by, comment) => ({ outcome: 'paid', ...(comment ? { comment } : {}) }),
    },
    notPaid: {
      effect: 'Takes the payment as not made: the token is revoked, and the intent is free again.',
      operation: 'mpp.resolve',
      body: (_by, comment) => ({ outcome: 'not_paid', ...(comment ? { comment } : {}) }),
    },
  },
  steps: {
    leaveOutcomeOpen: {
      operation: 'mpp.settle',
      summary: 'Leave the outcome open, as the merchant does not answer; the money stays held',
    },
    endUnpaid: {
      operation: 'mpp.settle',
      summary: 'End the payment as not paid: revoke the token and free the intent',
    },
    deleteNetworkToken: { operation: 'mpp.deleteToken', summary: 'Have the processor delete the token' },
  },
} as const satisfies RecordProcess

/** For a paid payment that the network has reversed: the token is still to be deleted. */
export const takenBackProcess = { ...mppProcess, recurs: true } as const satisfies RecordProcess

export interface MachinePaymentStatus extends ProcessStatus {
  readonly next: 'settle' | 'deleteToken' | null
}

export type MppSignal = keyof typeof mppProcess.signals

import type { ProcessStatus, RecordProcess } from '../../kernel/contract/process.ts'

export const mppProcess = {
  name: 'mpp',
  title: 'Machine payment',
  details: `Follows one machine payment. The request itself asks the merchant, checks its offer, mints the credential and sends it, once; this run takes over if the service stops in between, the merchant does not answer, or the outcome is unknown. Nothing is ever minted or sent again.

While the outcome is unknown the money stays held. The card network decides it by an authorization, a clearing or a decline of the token; after 31 days it counts as not paid, and the token is revoked.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`paid\` records the payment as paid: the money is captured.
- \`notPaid\` records it as not paid: the token is revoked, and the intent can be paid again.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /v1/mpp/credentials/{id}/resolve\`.`,
  newIn: ['minted', 'sent'],
  read: { activity: 'readMachinePayment', operation: 'mpp.status', summary: 'Status of the machine payment' },
  decide: 'resolveMachinePayment',
  signals: {
    paid: {
      effect: 'Records the payment as paid: the money is captured.',
      operation: 'mpp.resolve',
      body: (_by, comment) => ({ outcome: 'paid', ...(comment ? { comment } : {}) }),
    },
    notPaid: {
      effect: 'Records the payment as not paid: the token is revoked, and the intent can be paid again.',
      operation: 'mpp.resolve',
      body: (_by, comment) => ({ outcome: 'not_paid', ...(comment ? { comment } : {}) }),
    },
  },
  steps: {
    leaveOutcomeOpen: {
      operation: 'mpp.settle',
      summary: 'Record the outcome as unknown, since the merchant did not answer; the money stays held',
    },
    endUnpaid: {
      operation: 'mpp.settle',
      summary: 'End the payment as not paid: revoke the token and free the intent',
    },
    deleteNetworkToken: {
      operation: 'mpp.deleteToken',
      callsOutside: true,
      summary: 'Delete the token at the processor',
    },
  },
} as const satisfies RecordProcess

/** Follows a paid payment that the network has reversed, since the token must still be deleted. */
export const reversedMppProcess = { ...mppProcess, recurs: true } as const satisfies RecordProcess

export interface MachinePaymentProcessStatus extends ProcessStatus {
  readonly next: 'settle' | 'deleteToken' | null
}

export type MppSignal = keyof typeof mppProcess.signals

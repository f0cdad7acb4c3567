import type { ProcessStatus, RecordProcess } from '../../kernel/contract/process.ts'

export const cardProcess = {
  name: 'card',
  title: 'Card',
  details: `Has the card issued by the processor, once, and sends it every change: active, frozen, closed, limits and controls, another number. A processor that does not answer is called again, with increasing pauses. The service itself applies every change immediately. Closes the card when it expires, and when the payment of a single-use card has ended. Returns the balance of a closed card’s purse.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`freeze\` declines all payments until the card is unfrozen.
- \`unfreeze\` lets it pay again.
- \`close\` closes it for good.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /cards/{id}/freeze\`. *Request Cancellation* changes nothing.`,
  recurs: true,
  read: { activity: 'readCard', operation: 'cards.status', summary: 'Status of the card' },
  decide: 'decideCard',
  signals: {
    freeze: {
      effect: 'Declines all payments until the card is unfrozen.',
      operation: 'cards.freeze',
      body: (by, comment) => ({ reason: comment ?? `Frozen by ${by}` }),
    },
    unfreeze: { effect: 'Unfreezes the card.', operation: 'cards.unfreeze', body: () => ({}) },
    close: {
      effect: 'Closes the card permanently.',
      operation: 'cards.close',
      body: (by, comment) => ({ reason: comment ?? `Closed by ${by}` }),
    },
  },
  steps: {
    issueCard: {
      operation: 'cards.issue',
      callsOutside: true,
      summary: 'Ask the processor for the card, once',
    },
    replaceNumber: {
      operation: 'cards.replace',
      callsOutside: true,
      summary: 'Ask the processor for another number, once',
    },
    tellProcessor: {
      operation: 'cards.tell',
      callsOutside: true,
      summary: 'Send the card’s state, limits and controls to the processor',
    },
    endCard: { operation: 'cards.end', summary: 'Close the replaced number, or the card at its end' },
    returnPurse: {
      operation: 'cards.returnPurse',
      summary: 'Return the money in the purse of the closed card',
    },
  },
} as const satisfies RecordProcess

export interface CardProcessStatus extends ProcessStatus {
  readonly next: 'issue' | 'replace' | 'tell' | 'return' | 'end' | null
}

export type CardSignal = keyof typeof cardProcess.signals

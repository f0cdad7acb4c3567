import type { Process } from '../../kernel/contract/process.ts'

/** Runs for as long as the card lives, and until the processor knows that it is closed. */
export const cardProcess = {
  name: 'card',
  title: 'Card',
  details: `Has the card issued by the processor, once, and tells the processor of every change: active, frozen, closed, limits and controls, another number. A processor that does not answer is asked again, after longer and longer waits; the service itself goes by the record at once, whatever the processor knows. Closes the card at the end that is printed on it, and when the one payment of a card for a single use has ended. Gives back what the purse of a closed card has.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`freeze\` stops the card until it is unfrozen.
- \`unfreeze\` lets it pay again.
- \`close\` closes it for good.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /cards/{id}/freeze\`. *Request Cancellation* changes nothing.`,
  recurs: true,
} as const satisfies Process

/** The signals of operators from the Web UI or the command line, and what each does. */
export const cardSignals = {
  freeze: 'Stops the card until it is unfrozen.',
  unfreeze: 'Lets a frozen card pay again.',
  close: 'Closes the card for good.',
} as const
export type CardSignal = keyof typeof cardSignals

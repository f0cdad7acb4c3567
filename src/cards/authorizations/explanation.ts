import { type Check, explainChecks } from '../../control/rules/index.ts'
import { formatEuros } from '../../values/money.ts'
import type { AuthorizationStatus, CardAuthorization } from './authorization.ts'

/** Remedies of the checks that only cards have; the message of each says what is wrong. */
const CARD_REMEDY = 'Do what is said there, or pay with another card.'

/** Every rule in words: the card's own check first, where it has one. */
export function explainDecision(checks: readonly Check[]) {
  const ofCard = checks
    .filter(({ rule }) => rule === 'card')
    .map(({ rule, outcome, message }) => ({ rule, outcome, message, remedy: CARD_REMEDY }))
  // A card cannot wait for a person: what would ask one is an obstacle, too.
  return [...ofCard, ...explainChecks(checks, true)]
}

/** What would make a decline a yes. */
export const remediesOf = (checks: readonly Check[]): string[] => [
  ...new Set(explainDecision(checks).flatMap(({ remedy }) => remedy ?? [])),
]

export const sourceInWords = {
  intent: 'What is held for the intent pays.',
  purse: 'The purse of the card pays.',
  wallet: 'The wallet of the agent pays.',
} as const

const summaries: Readonly<Record<AuthorizationStatus, (row: CardAuthorization) => string>> = {
  pending: ({ amountEuros }) =>
    `A machine payment of ${formatEuros(amountEuros)} is under way: nobody has said yet what became of it.`,
  declined: ({ declineReason }) => `It was declined: ${declineReason ?? 'the processor has declined it.'}`,
  authorized: ({ approvedEuros, amountEuros, heldEuros, clearedEuros }) =>
    [
      amountEuros === 0n
        ? 'The card was checked, and nothing is held.'
        : `${formatEuros(approvedEuros)} of ${formatEuros(amountEuros)} were approved, ${formatEuros(heldEuros)} are held.`,
      ...(clearedEuros > 0n ? [`${formatEuros(clearedEuros)} have been collected.`] : []),
    ].join(' '),
  confirmed: ({ capturedEuros }) =>
    `The agent has confirmed a payment of ${formatEuros(capturedEuros)}; the network has not spoken of it yet.`,
  cleared: ({ clearedEuros, refundedEuros }) =>
    `${formatEuros(clearedEuros)} have been collected${refundedEuros > 0n ? `, ${formatEuros(refundedEuros)} of them came back` : ''}.`,
  reversed: () => 'The merchant has given it back: nothing is held for it any more.',
  expired: () => 'The merchant has not collected it in time: nothing is held for it any more.',
  void: () => 'The machine payment has come to nothing: the intent can be paid again.',
  refunded: ({ refundedEuros }) => `${formatEuros(refundedEuros)} came back.`,
}

/** How the payment stands, in a sentence. */
export function summaryOf(row: CardAuthorization): string {
  const status: AuthorizationStatus = row.status
  return summaries[status](row)
}

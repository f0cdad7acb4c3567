import type { Cause } from '../../../money/ledger/index.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import { standingOf } from './facts.ts'

/** Each approval holds, and reserves, under a cause of its own: holds never grow. */
export const askCause = (authorizationId: string, ask: number): Cause => ({
  type: 'card_ask',
  id: `${authorizationId}:${ask}`,
})

/** What was cleared beyond all approvals is spent under this cause. */
export const excessCause = (authorizationId: string): Cause => ({ type: 'card_payment', id: authorizationId })

/**
 * What was cleared without any approval is spent under this cause: it is a use of its own, as an approval would be. What a
 * machine payment may cost is reserved under it from its beginning on.
 */
export const aloneCause = (authorizationId: string): Cause => ({ type: 'card_alone', id: authorizationId })

/** What an intent covers counts for the card alone, under causes of its own: the payment may lose its intent to another one. */
export const coveredCause = ({ type, id }: Cause): Cause => ({ type: `${type}_covered`, id })

export const intentCause = (intentId: string): Cause => ({ type: 'intent', id: intentId })

/** The causes under which something may be held for an authorization. */
export const holdCausesOf = ({ id, intentId, facts }: AuthorizationRow): Cause[] => [
  ...standingOf(facts).approvals.map(({ ask }) => askCause(id, ask)),
  ...(intentId ? [intentCause(intentId)] : []),
]

/** The causes under which something may be reserved or spent for an authorization. */
export function reservationCausesOf(row: AuthorizationRow): Cause[] {
  const { id, intentId, facts } = row
  const asks = standingOf(facts).approvals.map(({ ask }) => askCause(id, ask))
  const own = [...asks, excessCause(id), aloneCause(id)]
  return intentId ? [...own, ...own.map(coveredCause), intentCause(intentId)] : own
}

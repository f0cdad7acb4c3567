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

export const intentCause = (intentId: string): Cause => ({ type: 'intent', id: intentId })

/** The causes under which something may be held for an authorization. */
export const holdCausesOf = ({ id, intentId, facts }: AuthorizationRow): Cause[] => [
  ...standingOf(facts).approvals.map(({ ask }) => askCause(id, ask)),
  ...(intentId ? [intentCause(intentId)] : []),
]

/** The causes under which something may be reserved or spent for an authorization. */
export const reservationCausesOf = (row: AuthorizationRow): Cause[] => [
  ...holdCausesOf(row),
  excessCause(row.id),
]

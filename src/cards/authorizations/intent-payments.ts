import type { FindPayments, PaymentState } from '../../kernel/contract/payables.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import type { AuthorizationStatus, CardAuthorization } from './authorization.ts'

const stateByStatus: Readonly<Record<AuthorizationStatus, PaymentState>> = {
  pending: 'submitted',
  declined: 'rejected',
  authorized: 'submitted',
  confirmed: 'completed',
  cleared: 'completed',
  reversed: 'cancelled',
  expired: 'cancelled',
  void: 'cancelled',
  refunded: 'returned',
}

type PaymentRow = Row &
  Pick<CardAuthorization, 'id' | 'declineReason' | 'updatedAt'> & {
    readonly intentId: string
    readonly status: AuthorizationStatus
    readonly amountEuros: Euros
  }

const MAX_PAYMENTS = 20

const FIND = `
select a.* from unnest($3::text[]) as w (id)
cross join lateral (
  select id, intent_id as "intentId", status, decline_reason as "declineReason", updated_at as "updatedAt",
    coalesce(nullif(cleared_cents, 0), nullif(captured_cents, 0), amount_cents) as "amountEuros"
  from card_authorizations where (owner_id, mode, intent_id) = ($1, $2, w.id) and amount_cents > 0
    and mpp_credential_id is null order by id desc limit ${MAX_PAYMENTS}
) a
order by a.id desc`

/** Finds the payments by card on these intents. Machine payments are reported by the area that makes them. */
export const paymentsOnIntents: FindPayments = async (intentIds, { ownerId, mode }, sql) => {
  const rows = await sql<PaymentRow>(FIND, [ownerId, mode, intentIds])
  return rows.map(({ id, intentId, status, amountEuros, declineReason, updatedAt }) => ({
    intentId,
    type: 'card' as const,
    id,
    status: stateByStatus[status],
    amountEuros,
    reason: declineReason === null ? null : { code: 'declined', message: declineReason },
    updatedAt,
  }))
}

import type { FindPayments, PaymentState } from '../../kernel/contract/payables.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { MppCredential, MppStatus } from './credential.ts'

const MAX_PAYMENTS = 20

const FIND = `
select p.* from unnest($3::text[]) as w (id)
cross join lateral (
  select c.id, c.intent_id as "intentId", c.status, c.amount_cents as "amountEuros", c.note, c.updated_at as "updatedAt", (
    select a.status in ('refunded', 'reversed', 'expired') from card_authorizations a
    where (a.owner_id, a.mode, a.mpp_credential_id) = (c.owner_id, c.mode, c.id) limit 1) as "isBack"
  from mpp_credentials c where (c.owner_id, c.mode, c.intent_id) = ($1, $2, w.id) order by c.id desc limit ${MAX_PAYMENTS}
) p
order by p.id desc`

type PaymentRow = Row &
  Pick<MppCredential, 'id' | 'intentId' | 'amountEuros' | 'note' | 'updatedAt'> & {
    readonly status: MppStatus
    readonly isBack: boolean | null
  }

const stateByStatus: Readonly<Record<MppStatus, PaymentState>> = {
  minted: 'submitted',
  sent: 'submitted',
  indeterminate: 'submitted',
  consumed: 'completed',
  void: 'cancelled',
}

const OPEN_REASON = 'Nobody knows yet whether the merchant was paid.'

/** Finds the machine payments on these intents. */
export const machinePaymentsOn: FindPayments = async (intentIds, { ownerId, mode }, sql) => {
  const rows = await sql<PaymentRow>(FIND, [ownerId, mode, intentIds])
  return rows.map(({ id, intentId, status, amountEuros, note, isBack, updatedAt }) => ({
    intentId,
    type: 'mpp' as const,
    id,
    status: status === 'consumed' && isBack ? 'returned' : stateByStatus[status],
    amountEuros,
    reason: status === 'indeterminate' ? { code: status, message: note ?? OPEN_REASON } : null,
    updatedAt,
  }))
}

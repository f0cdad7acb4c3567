import type { FindPayables, Payable } from '../../kernel/contract/payables.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { clock } from '../../values/clock.ts'
import { isPayable } from './request.ts'

interface PayableRow extends Row, Payable {
  /** How far the clock of its owner is ahead. */
  readonly offsetMs: number
}

const LOCK = `
select id from payment_requests where owner_id = $1 and mode = $2 and id = any($3::text[])
order by id for no key update`

/** One look-up for each id, however large the tables are. */
const FIND = `
select r.id, r.owner_id as "ownerId", r.wallet_id as "walletId", r.amount_cents - r.paid_cents as "amountEuros",
  c.name as payee, r.status, r.expires_at as "expiresAt", coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from unnest($2::text[]) as w (id)
cross join lateral (select * from payment_requests one where one.id = w.id limit 1) r
cross join lateral (select name from customers one where one.id = r.owner_id limit 1) c
left join tenant_clocks t on (t.owner_id, t.mode) = (r.owner_id, r.mode)
where r.mode = $1`

/**
 * Finds requests as those who pay them may know them: by the public name of the holder. What is locked is read behind the
 * lock, as the statements are sent in this order.
 */
export const findPayableRequests: FindPayables = async (ids, mode, sql, lockedFor) => {
  const locking = lockedFor ? sql(LOCK, [lockedFor.ownerId, lockedFor.mode, ids]) : undefined
  const [rows] = await Promise.all([sql<PayableRow>(FIND, [mode, ids]), locking])
  return rows.map(({ offsetMs, ...payable }) => {
    const isOverdue = payable.status === 'open' && !isPayable(payable, clock.tenant(offsetMs))
    return { ...payable, status: isOverdue ? 'expired' : payable.status }
  })
}

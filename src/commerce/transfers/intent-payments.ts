import type { FindPayments, IntentPayment } from '../../kernel/contract/payables.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { type Transfer, waitsForPayee } from './transfer.ts'

type PaymentRow = Row &
  Pick<Transfer, 'status' | 'reason' | 'payee' | 'payeeCheck'> & {
    readonly id: string
    readonly intentId: string
    readonly amountEuros: Transfer['amountEuros']
    readonly updatedAt: Date
    readonly payeeConfirmedAt: Date | null
  }

/** A payment that fails can be made anew, so an intent may have many: the newest are answered. */
const MAX_PAYMENTS = 20

/** The lateral join has PostgreSQL use the index for each intent, whatever its statistics say. */
const FIND_PAYMENTS = `
select t.* from unnest($3::text[]) as w (id)
cross join lateral (
  select id, intent_id as "intentId", status, amount_cents as "amountEuros", reason, payee, payee_check as "payeeCheck",
    payee_confirmed_at as "payeeConfirmedAt", updated_at as "updatedAt"
  from transfers where (owner_id, mode, intent_id) = ($1, $2, w.id) order by id desc limit ${MAX_PAYMENTS}
) t
order by t.id desc`

/** Finds the transfers that pay these intents. */
export const paymentsOnIntents: FindPayments = async (intentIds, { ownerId, mode }, sql) => {
  const rows = await sql<PaymentRow>(FIND_PAYMENTS, [ownerId, mode, intentIds])
  return rows.map(row => ({
    intentId: row.intentId,
    type: 'transfer',
    id: row.id,
    status: row.status,
    amountEuros: row.amountEuros,
    reason: row.reason ?? unconfirmedPayee(row),
    updatedAt: row.updatedAt,
  }))
}

/** The reason of a transfer that waits for its payee to be confirmed; null if it does not. */
function unconfirmedPayee(row: PaymentRow): IntentPayment['reason'] {
  const { id, status, payee, payeeCheck } = row
  if (!payeeCheck || !waitsForPayee(row)) return null
  const { result, suggestedName } = payeeCheck
  const refusal = result === 'not_possible' ? 'cannot verify the name' : 'does not know the name'
  const answer = suggestedName ? `knows the account as ${suggestedName}` : refusal
  const otherwise = status === 'verifying' ? 'cancel the transfer' : 'have the bank cancel the order'
  return {
    code: result,
    message: `The bank of ${payee?.name} ${answer}: confirm the payee (POST /transfers/${id}/confirm-payee) or ${otherwise}.`,
  }
}

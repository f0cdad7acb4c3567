import type { FindPayments, IntentPayment } from '../../kernel/contract/intent-payments.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Transfer } from './transfer.ts'

type Found = Row &
  Pick<Transfer, 'status' | 'reason' | 'payee' | 'payeeCheck'> & {
    readonly id: string
    readonly intentId: string
    readonly updatedAt: Date
    readonly isConfirmed: boolean
  }

/** A payment that comes to nothing can be made anew: of so many of an intent the newest are told. */
const MOST = 20

/** Each intent by its index, whatever PostgreSQL believes of the table. */
const FIND = `
select t.* from unnest($3::text[]) as w (id)
cross join lateral (
  select id, intent_id as "intentId", status, reason, payee, payee_check as "payeeCheck",
    payee_confirmed_at is not null as "isConfirmed", updated_at as "updatedAt"
  from transfers where (owner_id, mode, intent_id) = ($1, $2, w.id) order by id desc limit ${MOST}
) t
order by t.id desc`

/** The transfers that pay these intents. */
export const paymentsOnIntents: FindPayments = async (intentIds, { ownerId, mode }, sql) => {
  const found = await sql<Found>(FIND, [ownerId, mode, intentIds])
  return found.map(({ intentId, id, status, updatedAt, ...transfer }) => ({
    intentId,
    type: 'transfer',
    id,
    status,
    reason: transfer.reason ?? doubtAbout({ id, status, ...transfer }),
    updatedAt,
  }))
}

type Doubted = Pick<Found, 'id' | 'status' | 'payee' | 'payeeCheck' | 'isConfirmed'>

/** What a transfer waits for whose payee is known otherwise to the bank. */
function doubtAbout({ id, status, payee, payeeCheck, isConfirmed }: Doubted): IntentPayment['reason'] {
  const result = payeeCheck?.result
  if (status !== 'verifying' || isConfirmed || (result !== 'close_match' && result !== 'no_match'))
    return null
  const known = payeeCheck?.suggestedName
    ? `knows the account as ${payeeCheck.suggestedName}`
    : 'does not know the name'
  return {
    code: result,
    message: `The bank of ${payee?.name} ${known}: confirm the payee (POST /transfers/${id}/confirm-payee) or cancel the transfer.`,
  }
}

import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import type { TransactionRow } from '../transactions/index.ts'

interface Awaited extends Row {
  readonly transactionId: string
  readonly euros: Euros
}

const AWAITED = `
select r.transaction_id as "transactionId", sum(r.amount_cents - r.arrived_cents)::bigint as euros
from refunds r
where r.owner_id = $1 and r.mode = $2 and r.transaction_id = any($3::text[]) and r.status = 'pending'
group by r.transaction_id`

/** What is still awaited of refunds that were asked for, by transaction. */
export async function awaitedRefunds(
  sql: Sql,
  { ownerId, mode }: Tenant,
  transactionIds: readonly string[],
): Promise<ReadonlyMap<string, Euros>> {
  if (transactionIds.length === 0) return new Map()
  const rows = await sql<Awaited>(AWAITED, [ownerId, mode, transactionIds])
  return new Map(rows.map(({ transactionId, euros }) => [transactionId, euros]))
}

/** What neither has come back of a payment, nor is awaited, nor disputed. Facts may be above: then nothing is left. */
export function leftToRefund(
  {
    amountEuros,
    refundedEuros,
    disputedEuros,
  }: Pick<TransactionRow, 'amountEuros' | 'refundedEuros' | 'disputedEuros'>,
  awaitedEuros: Euros,
): Euros {
  const left = amountEuros - refundedEuros - disputedEuros - awaitedEuros
  return left > 0n ? left : 0n
}

/**
 * How much of a payment can still come back, by a refund or a dispute. The caller has locked its agent, if it has one, and
 * then the transaction: whoever moves a payment by card holds only the agent.
 */
export async function refundableOf(
  transaction: Parameters<typeof leftToRefund>[0] & Pick<TransactionRow, 'id'>,
  { sql, tenant }: { readonly sql: Sql; readonly tenant: Tenant },
): Promise<Euros> {
  const awaited = await awaitedRefunds(sql, tenant, [transaction.id])
  return leftToRefund(transaction, awaited.get(transaction.id) ?? 0n)
}

const ASKED_BACK = `
select coalesce(sum(r.arrived_cents), 0)::bigint as euros from refunds r
where r.owner_id = $1 and r.mode = $2 and r.transaction_id = $3 and r.origin = 'asked'`

/** What has come back of a payment for refunds that were asked for. */
export async function askedBack(sql: Sql, { ownerId, mode }: Tenant, transactionId: string): Promise<Euros> {
  const [row] = await sql<{ euros: Euros }>(ASKED_BACK, [ownerId, mode, transactionId])
  return row?.euros ?? 0n
}

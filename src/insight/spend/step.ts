import type { Sql } from '../../kernel/contract/sql.ts'
import { before, type Position } from './position.ts'

/** The first transaction that a step of so many events and refunds does not go over any more. */
const UNTIL = `
select least($4::bigint,
  (select written_in from events where (written_in, id) > ($1::bigint, $2::text) and written_in < $4
    order by written_in, id offset $5::int limit 1),
  (select written_in from transaction_refunds where (written_in, id) > ($1, $3::bigint) and written_in < $4
    order by written_in, id offset $5 limit 1)) as until`

/** Up to which ids a step goes within a transaction. */
const PART = `
select coalesce((select max(id) from (
    select id from events where written_in = $1::bigint and id > $2::text order by id limit $4::int) as one), $2) as "eventId",
  coalesce((select max(id) from (
    select id from transaction_refunds where written_in = $1 and id > $3::bigint order by id limit $4) as one), $3) as "refundId"`

/** Up to where a step goes: over whole transactions, or where one has written more than so many events, over a part of it. */
export async function endOfStep(
  sql: Sql,
  { writtenIn, eventId, refundId }: Position,
  horizon: bigint,
  most: number,
): Promise<Position> {
  const from = [writtenIn, eventId, refundId]
  const [found] = await sql<{ until: bigint }>(UNTIL, [...from, horizon, most])
  const until = found?.until ?? horizon
  if (until > writtenIn) return before(until)
  const [part] = await sql<Omit<Position, 'writtenIn'>>(PART, [...from, most])
  return part ? { writtenIn, ...part } : before(writtenIn + 1n)
}

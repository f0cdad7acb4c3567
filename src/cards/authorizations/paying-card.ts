import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { cardUsages, numberMachine } from '../cards/index.ts'

/** The part of a card, and of the number that was used, by which a payment is decided. */
export interface PayingCard extends Row {
  readonly cardId: string
  readonly numberId: string
  readonly processorCardId: string
  readonly usage: (typeof cardUsages)[number]
  readonly walletId: string | null
  /** The payment that a card for one payment has made; null while it has none. */
  readonly paymentId: string | null
  readonly numberStatus: (typeof numberMachine.states)[number]
  readonly retiresAt: Date | null
  readonly endsAt: Date
}

const NUMBERS = `
select c.id as "cardId", n.id as "numberId", n.processor_card_id as "processorCardId", c.usage, c.wallet_id as "walletId",
  n.status as "numberStatus", n.retires_at as "retiresAt", n.ends_at as "endsAt",
  case when c.usage = 'single' then (
    select a.id from card_authorizations a
    where a.owner_id = $1 and a.mode = $2 and a.card_id = c.id and a.amount_cents > 0
      and a.status in ('pending', 'authorized', 'confirmed', 'cleared', 'refunded') limit 1) end as "paymentId"
from unnest($3::text[]) as w (id)
cross join lateral (
  select * from card_numbers one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) as n
cross join lateral (
  select * from cards one where (one.owner_id, one.mode, one.id) = ($1, $2, n.card_id) limit 1) as c`

/** Reads cards by the numbers that were used, whose agents are locked. */
export async function payingCards(
  sql: Sql,
  { ownerId, mode }: Tenant,
  numberIds: readonly string[],
): Promise<ReadonlyMap<string, PayingCard>> {
  if (numberIds.length === 0) return new Map()
  const rows = await sql<PayingCard>(NUMBERS, [ownerId, mode, [...new Set(numberIds)]])
  return new Map(rows.map(row => [row.numberId, row]))
}

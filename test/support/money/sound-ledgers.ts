import { expect } from '@jest/globals'
import { bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

/** What an owner could withdraw through the bank, and whether the bank has it. */
const UNCOVERED = `
select owner_id, mode, bank, owed, advance, unpaid from (
  select owner_id, mode,
    -coalesce(sum(posted_cents) filter (where kind = 'bank'), 0)::int as bank,
    coalesce(sum(posted_cents) filter (where kind in ('wallet', 'suspense', 'clearing_sepa', 'clearing_cards', 'float')), 0)::int as owed,
    coalesce(sum(posted_cents) filter (where kind = 'advance'), 0)::int as advance,
    greatest(-coalesce(sum(posted_cents) filter (where kind = 'clearing_acquirer'), 0), 0)::int
      - coalesce(sum(posted_cents) filter (where kind = 'receivable'), 0)::int as unpaid
  from ledger_accounts group by owner_id, mode) as each
where bank < owed or advance <> unpaid`

/** Money between owners that never left a ledger, or entered none although it will not be posted any more. */
const LOST = `
select c.owner_id, c.id, c.status, c.source from incoming_credits c
where source in ('owner', 'refund') and (
  c.from_owner_id = c.owner_id and (
    select count(*) from ledger_transfers t
    where (t.owner_id, t.mode, t.reference_type, t.reference_id) = (c.owner_id, c.mode, 'hand_over', c.id)
      and t.kind = case c.source when 'owner' then 'charge_out' else 'charge_refund' end) <> 1
  or c.status <> 'handed_over' and (
    select count(*) from ledger_transfers t
    where (t.owner_id, t.mode, t.reference_type, t.reference_id) = (c.owner_id, c.mode, 'incoming_credit', c.id)
      and t.kind in ('charge_in', 'charge_refunded', 'unmatched_credit')) <> 1
  or c.status = 'handed_over' and c.due_at is null and not exists (
    select from incoming_credits a
    where (a.owner_id, a.mode, a.id, a.amount_cents) = (c.to_owner_id, c.mode, c.id, c.amount_cents)))`

/** The total that left ledgers for other owners, and the total that entered from them. */
const BETWEEN = `
select coalesce(sum(e.amount_cents) filter (where t.kind in ('charge_out', 'charge_refund')), 0)::int as "left",
  -coalesce(sum(e.amount_cents) filter (where t.kind in ('charge_in', 'charge_refunded')
    or c.id is not null and t.kind = 'unmatched_credit'), 0)::int as entered,
  coalesce((select sum(amount_cents) from incoming_credits w where w.status = 'handed_over'
    and w.source in ('owner', 'refund') and not exists (select from incoming_credits a
      where (a.owner_id, a.mode, a.id) = (w.to_owner_id, w.mode, w.id))), 0)::int as "underWay"
from ledger_entries e
join ledger_transfers t on (t.owner_id, t.mode, t.id) = (e.owner_id, e.mode, e.transfer_id)
join ledger_accounts b on (b.owner_id, b.mode, b.id) = (e.owner_id, e.mode, e.account_id) and b.kind = 'bank'
left join incoming_credits c on t.reference_type = 'incoming_credit' and c.source in ('owner', 'refund')
  and (c.owner_id, c.mode, c.id) = (t.owner_id, t.mode, t.reference_id)`

/** Verifies the ledgers of all owners, and the money between them. */
export async function expectSoundLedgers({ sql, dash }: Pick<TestService, 'sql' | 'dash'>): Promise<void> {
  const tenants = await sql<{ id: string; mode: 'test' | 'live' }>(
    'select distinct owner_id as id, mode from ledger_accounts',
  )
  for (const { id, mode } of tenants)
    expect(await bodyOf(dash.ledger.verifyOwner({ params: { id }, body: { mode } }))).toMatchObject({
      ok: true,
      problems: [],
    })
  expect(await sql(UNCOVERED)).toEqual([])
  expect(await sql(LOST)).toEqual([])
  const [between] = await sql<{ left: number; entered: number; underWay: number }>(BETWEEN)
  expect(between?.left).toBe(Number(between?.entered) + Number(between?.underWay))
}

import type { TestService } from '../harness.ts'
import { type PayingOwner, todayOf } from './paying.ts'

interface PastSpend {
  readonly daysAgo: number
  readonly cents: number
  readonly merchant: string
}

const CELLS = `
insert into spend_cells as kept
select $1, 'test', v.view, $2::date - ago, $3, '', v.value, count(*), sum(cents), 0, 0
from unnest($4::int[], $5::int[], $6::text[]) as s (ago, cents, merchant),
  lateral (values ('agent', ''), ('merchant', merchant)) as v (view, value)
group by v.view, ago, v.value
on conflict (owner_id, mode, view, day, agent_id, run_id, value) do update
set payments = kept.payments + excluded.payments, spent_cents = kept.spent_cents + excluded.spent_cents`

/** Writes an agent's past spending into the sums, as if counted long ago. */
export async function spentBefore(
  { sql }: Pick<TestService, 'sql'>,
  { client, ownerId }: Pick<PayingOwner, 'client' | 'ownerId'>,
  agentId: string,
  past: readonly PastSpend[],
): Promise<void> {
  await sql(CELLS, [
    ownerId,
    await todayOf(client),
    agentId,
    past.map(({ daysAgo }) => daysAgo),
    past.map(({ cents }) => cents),
    past.map(({ merchant }) => merchant),
  ])
}

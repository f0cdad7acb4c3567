import type { RunningService, Systems } from '../../kernel/contract/ports.ts'
import { ifConfigured } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { ListedReturn } from '../../ports/acquirer.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { CHARGEBACK, restOf } from './acquirer-returns.ts'
import { refundIdOf } from './api.ts'

/** Card networks decide a chargeback within about three months. */
const RETURNS_SINCE_MS = days(120)

interface Charge extends Row {
  readonly ownerId: string
  readonly mode: ListedReturn['mode']
  readonly reference: string
}

/**
 * Charges of which more has been taken or given back than is booked, or whose refunds, for which this service has asked, have
 * ended otherwise than is recorded.
 */
const NEWS = `
select distinct l.owner_id as "ownerId", l.mode, l.reference
from jsonb_to_recordset($1::jsonb) as l (owner_id text, mode text, reference text, refund_id text, failed boolean,
  source_id text, rest_id text, withdrawn bigint, reinstated bigint)
left join refunds asked on (asked.owner_id, asked.mode, asked.id) = (l.owner_id, l.mode, l.refund_id)
cross join lateral (
  select coalesce(sum(r.amount_cents) filter (where r.source_id = l.source_id), 0) as withdrawn,
    coalesce(sum(r.amount_cents) filter (where r.status = 'failed'), 0)
      - coalesce(sum(r.amount_cents) filter (where r.source_id = l.rest_id), 0) as reinstated
  from refunds r where r.owner_id = l.owner_id and r.mode = l.mode and r.source_type = '${CHARGEBACK}'
    and r.source_id in (l.source_id, l.rest_id)) as booked
where asked.status = 'pending' or asked.status = 'completed' and l.failed
  or booked.withdrawn < l.withdrawn or booked.reinstated < least(l.reinstated, l.withdrawn)`

function rowOf(listed: ListedReturn) {
  const { ownerId: owner_id, mode, reference } = listed
  const charge = { owner_id, mode, reference }
  if ('refundReference' in listed)
    return { ...charge, refund_id: refundIdOf(listed.refundReference), failed: listed.outcome === 'declined' }
  const { id: source_id, withdrawnCents, reinstatedCents } = listed.chargeback
  const sums = { withdrawn: String(withdrawnCents), reinstated: String(reinstatedCents) }
  return { ...charge, source_id, rest_id: restOf(source_id), ...sums }
}

interface ReturnsWatch {
  readonly systems: Pick<Systems, 'acquirer'>
  readonly service: Pick<RunningService, 'runFor'>
}

/**
 * The second witness of what is returned of received payments, beside the acquirer's notices: a lost one loses
 * nothing. Both lead to the same operation, which asks for the state of the charge, so each return is booked once.
 */
export async function followAcquirerReturns(sql: Sql, { systems, service }: ReturnsWatch): Promise<void> {
  const listing = ifConfigured(() => systems.acquirer('live'))?.returnsSince
  if (!listing) return
  const listed = await listing(addMs(clock.real(), -RETURNS_SINCE_MS))
  if (!listed) throw new Error('The acquirer did not answer.')
  const failures: unknown[] = []
  for (const { ownerId, mode, reference } of await sql<Charge>(NEWS, [JSON.stringify(listed.map(rowOf))]))
    await service
      .runFor(
        { ownerId, mode },
        'settlements.notice',
        { body: { about: 'returns', reference } },
        newId('request'),
      )
      .catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

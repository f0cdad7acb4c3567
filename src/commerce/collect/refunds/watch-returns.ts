import type { RunningService, Systems } from '../../../kernel/contract/ports.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import type { Acquirer, ListedReturn } from '../../../ports/acquirer.ts'
import { addMs, clock, days } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import { CHARGEBACK, restOf } from './acquirer-returns.ts'
import { refundIdOf } from './api.ts'

/** Card networks decide a chargeback within about three months. */
const RETURNS_SINCE_MS = days(120)

interface Charge extends Row {
  readonly ownerId: string
  readonly mode: ListedReturn['mode']
  readonly reference: string
}

/** What came without a request, and of which more has been taken or given back than is booked. */
const NOT_BOOKED = `
select distinct l.owner_id as "ownerId", l.mode, l.reference
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
  as l (owner_id, mode, reference, id, rest_id, withdrawn, reinstated)
cross join lateral (
  select coalesce(sum(r.amount_cents) filter (where r.source_id = l.id), 0) as withdrawn,
    coalesce(sum(r.amount_cents) filter (where r.status = 'failed'), 0)
      - coalesce(sum(r.amount_cents) filter (where r.source_id = l.rest_id), 0) as reinstated
  from refunds r where r.owner_id = l.owner_id and r.mode = l.mode and r.source_type = '${CHARGEBACK}'
    and r.source_id in (l.id, l.rest_id)) as booked
where booked.withdrawn < l.withdrawn or booked.reinstated < least(l.reinstated, l.withdrawn)`

/** Refunds that this service has asked for, and that have ended otherwise than is recorded. */
const NOT_ENDED = `
select distinct l.owner_id as "ownerId", l.mode, l.reference
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[]) as l (owner_id, mode, reference, id, failed)
join refunds r on (r.owner_id, r.mode, r.id) = (l.owner_id, l.mode, l.id)
where r.status = 'pending' or r.status = 'completed' and l.failed`

async function findNews(listed: readonly ListedReturn[], sql: Sql): Promise<Charge[]> {
  const columns = (of: readonly ListedReturn[]) => [
    of.map(({ ownerId }) => ownerId),
    of.map(({ mode }) => mode),
    of.map(({ reference }) => reference),
  ]
  const unasked = listed.flatMap(one => ('chargeback' in one ? [one] : []))
  const asked = listed.flatMap(one => ('refundReference' in one ? [one] : []))
  const [taken, ended] = await Promise.all([
    sql<Charge>(NOT_BOOKED, [
      ...columns(unasked),
      unasked.map(({ chargeback }) => chargeback.id),
      unasked.map(({ chargeback }) => restOf(chargeback.id)),
      unasked.map(({ chargeback }) => chargeback.withdrawnCents),
      unasked.map(({ chargeback }) => chargeback.reinstatedCents),
    ]),
    sql<Charge>(NOT_ENDED, [
      ...columns(asked),
      asked.map(({ refundReference }) => refundIdOf(refundReference)),
      asked.map(({ outcome }) => outcome === 'declined'),
    ]),
  ])
  const charges = [...taken, ...ended].map(
    one => [`${one.ownerId} ${one.mode} ${one.reference}`, one] as const,
  )
  return [...new Map(charges).values()]
}

function configured(systems: Pick<Systems, 'acquirer'>): Acquirer | undefined {
  try {
    return systems.acquirer('live')
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
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
  const listing = configured(systems)?.returnsSince
  if (!listing) return
  const listed = await listing(addMs(clock.real(), -RETURNS_SINCE_MS))
  if (!listed) throw new Error('The acquirer did not answer.')
  const failures: unknown[] = []
  for (const { ownerId, mode, reference } of await findNews(listed, sql))
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

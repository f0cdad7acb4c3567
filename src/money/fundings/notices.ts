import type { Actor, Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { SignedRequestReceiver } from '../../kernel/contract/area.ts'
import type { RunningService, Systems } from '../../kernel/contract/ports.ts'
import { ifConfigured, Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'

const modes: readonly Mode[] = ['live', 'test']

type FundingTenant = Tenant & Row & { readonly walletId: string }

const FUNDING_OF_ANY_TENANT = `
select owner_id as "ownerId", mode, wallet_id as "walletId" from fundings where id = $1`

export async function findFundingTenant(id: string, sql: Sql): Promise<FundingTenant | undefined> {
  const [found] = await sql<FundingTenant>(FUNDING_OF_ANY_TENANT, [id])
  return found
}

const answer = (taken: boolean) => ({ status: 200, body: JSON.stringify({ taken }) })

/** A notice is only a hint: the processor is asked for the state of the charge. */
export const receiveFundingNotice: SignedRequestReceiver = async (request, tools) => {
  const { systems, sql } = tools
  const rail = modes
    .map(mode => ifConfigured(() => systems.fundingRail(mode)))
    .find(candidate => candidate?.recognizes(request.headers))
  if (!rail) return { unsigned: 'The signature of the payment processor is missing.' }
  const read = await rail.read(request.body, request.headers, clock.real())
  if (read.kind === 'unsigned') return { unsigned: read.reason }
  if (read.kind === 'unreadable') throw new Problem('invalid_request', read.reason)
  if (read.kind === 'unanswered') throw new Problem('busy', 'The processor did not answer. Send it again.')
  const found = read.kind === 'notice' ? await findFundingTenant(read.reference, sql) : undefined
  if (read.kind === 'ignored' || !found) return { outcome: answer(false) }
  const tenant = { ownerId: found.ownerId, mode: found.mode }
  const actor: Actor = { type: 'signed', id: rail.name, tenant, agentId: null, scopes: new Set() }
  const outcome = await tools.run('fund.noticed', actor, { id: read.reference }, request)
  return { outcome: outcome.status === 200 ? answer(true) : outcome, actor }
}

/** Card networks decide a chargeback within about three months. */
const RETURNS_SINCE_MS = days(120)

/** The sums of a list may lack what is older than it. What exceeds a funding is not booked. */
const CHANGED = `
select f.id, f.owner_id as "ownerId", f.mode
from unnest($1::text[], $2::bigint[], $3::bigint[]) as r (id, taken, given)
join fundings f on f.id = r.id
where f.mode = 'live' and f.settled_at is not null
  and (coalesce(f.reversed_cents, 0) < least(r.taken, f.amount_cents + r.given)
    or coalesce(f.reinstated_cents, 0) < least(r.given, f.reversed_cents))`

interface ReturnsWatch {
  readonly systems: Pick<Systems, 'fundingRail'>
  readonly service: Pick<RunningService, 'runFor'>
}

/** The second witness of what payers' banks take back and give again, beside the notices. */
export async function followReturns(sql: Sql, { systems, service }: ReturnsWatch): Promise<void> {
  const rail = ifConfigured(() => systems.fundingRail('live'))
  if (!rail) return
  const returns = await rail.returnsSince(addMs(clock.real(), -RETURNS_SINCE_MS))
  if (!returns) throw new Error('The payment processor did not answer.')
  const ids = returns.map(({ reference }) => reference)
  const changed = await sql<Tenant & Row & { id: string }>(CHANGED, [
    ids,
    returns.map(({ takenCents }) => takenCents),
    returns.map(({ givenCents }) => givenCents),
  ])
  const failures: unknown[] = []
  for (const { id, ownerId, mode } of changed)
    await service
      .runFor({ ownerId, mode }, 'fund.follow', { params: { id } }, newId('request'))
      .catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

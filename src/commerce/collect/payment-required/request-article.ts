import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Row } from '../../../kernel/contract/sql.ts'
import { clock } from '../../../values/clock.ts'
import type { Euros } from '../../../values/money.ts'
import { currentKeyOf, offeringKey, openKey } from '../../mpp-keys/index.ts'
import type { requestMachine } from '../request.ts'
import type { Article } from './article.ts'

interface FoundRequest extends Row {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly status: (typeof requestMachine.states)[number]
  readonly due: Euros
  readonly description: string
  readonly walletId: string
  readonly agentId: string | null
  readonly expiresAt: Date
  readonly merchantName: string
  readonly offsetMs: number
  readonly kid: string | null
  readonly modulus: string
  readonly secret: string
}

/** All that a 402 says, by one statement: payers name a request by its id alone. */
const FIND = `
select r.id, r.owner_id as "ownerId", r.mode, r.status, r.amount_cents - r.paid_cents as due, r.description,
  r.wallet_id as "walletId", r.agent_id as "agentId", r.expires_at as "expiresAt", c.name as "merchantName",
  coalesce(t.offset_ms, 0)::float8 as "offsetMs", k.kid, k.modulus, k.secret
from payment_requests r
join customers c on c.id = r.owner_id
left join tenant_clocks t on (t.owner_id, t.mode) = (r.owner_id, r.mode)
left join lateral (${currentKeyOf('r')}) k on true
where r.id = $1`

/** Reads a request as a payer may see it, and continues as its tenant; undefined where there is none. */
export async function findRequestArticle(id: string, context: Context<never>): Promise<Article | undefined> {
  const [found] = await context.sql<FoundRequest>(FIND, [id])
  if (!found) return undefined
  const { ownerId, mode, offsetMs, description, merchantName, walletId, agentId, expiresAt } = found
  const tenant = { ownerId, mode }
  const now = clock.tenant(offsetMs)
  context.actFor(tenant, now)
  const { networks } = context.ports.acquirer(mode)
  const { kid, modulus, secret } = found
  const key =
    kid === null ? await offeringKey(tenant, context) : openKey({ kid, modulus, secret }, context.ports)
  const subject = { requestId: found.id, walletId, agentId, scenario: null }
  const members = { tenant, offsetMs, now, key, subject, description, merchantName, networks, expiresAt }
  return { ...members, externalId: found.id, amountEuros: found.due, ended: endOf(found, now) }
}

function endOf({ status, expiresAt }: FoundRequest, now: Date): Article['ended'] {
  if (status === 'paid' || status === 'refunded') return 'request_paid'
  return status === 'open' && expiresAt > now ? null : 'request_gone'
}

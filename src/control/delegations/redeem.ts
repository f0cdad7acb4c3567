import type { Mode } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { lock } from '../../kernel/database/entity.ts'
import { after, clock } from '../../values/clock.ts'
import { issueTokenOf } from '../agent-tokens/index.ts'
import { lockAgent } from '../agents/index.ts'
import type { delegationsApi } from './api.ts'
import { Delegation, delegationMachine } from './delegation.ts'
import { about, shown } from './response.ts'

interface Place extends Row {
  id: string
  ownerId: string
  mode: Mode
  agentId: string
  isActive: boolean
  offsetMs: number
}

/** Found by its digest: how long that takes says nothing about the codes there are. */
const PLACE = `
select d.id, d.owner_id as "ownerId", d.mode, d.agent_id as "agentId", c.status = 'active' as "isActive",
  coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from delegations d
join customers c on c.id = d.owner_id
left join tenant_clocks t on t.owner_id = d.owner_id and t.mode = d.mode
where d.code_hash = $1`

const placeOf = async (sql: Sql, code: string): Promise<Place | undefined> =>
  (await sql<Place>(PLACE, [hashOf(code)]))[0]

/** Why nothing is given for the code any more; undefined where it still is good. */
function obstacleTo({ status, codeExpiresAt }: Delegation, now: Date) {
  if (status === 'revoked') return 'code_revoked'
  if (status === 'redeemed') return 'code_used'
  return status === 'expired' || codeExpiresAt <= now ? 'code_expired' : undefined
}

/** Whoever has the code goes on as the tenant whose it is. Its agent is held, so that one of many comes first. */
export const redeem: HandlerOf<typeof delegationsApi.redeem> = async ({ body }, context) => {
  const { em, sql, actFor, emit, refuse } = context
  const place = await placeOf(sql, body.code)
  if (!place) return refuse('code_not_found')
  if (!place.isActive) return refuse('owner_suspended')
  const { ownerId, mode } = place
  const now = clock.tenant(place.offsetMs)
  actFor({ ownerId, mode }, now)
  await lockAgent(em, place.agentId)
  const delegation = (await lock(em, Delegation, place.id)) as Delegation
  const obstacle = obstacleTo(delegation, now)
  if (obstacle) return refuse(obstacle)
  delegationMachine.move(delegation, 'redeemed')
  const { tokenId, secret } = issueTokenOf(delegation, realEndOf(delegation, now), context)
  Object.assign(delegation, { redeemedAt: now, tokenId })
  emit('delegation.redeemed', about(delegation))
  return Object.assign(await shown(delegation, { sql, tenant: { ownerId, mode }, now }), { token: secret })
}

/** A token goes by real time. Where the owner's clock is moved on, the delegation ends it sooner. */
const realEndOf = ({ expiresAt }: Delegation, now: Date): Date =>
  after(clock.real(), expiresAt.getTime() - now.getTime())

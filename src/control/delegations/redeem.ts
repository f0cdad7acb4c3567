import type { Mode } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { after, clock } from '../../values/clock.ts'
import { issueDelegationToken } from '../agent-tokens/index.ts'
import { lockAgent } from '../agents/index.ts'
import type { delegationsApi } from './api.ts'
import { Delegation, delegationMachine } from './delegation.ts'
import { delegationEvent, delegationResponse } from './response.ts'

/** Where a code's delegation lives: its tenant, and the time of that tenant. */
interface DelegationOfCode extends Row {
  id: string
  ownerId: string
  mode: Mode
  agentId: string
  isActive: boolean
  offsetMs: number
}

/** The search goes by the digest, so the time it takes tells nothing about existing codes. */
const FIND_BY_CODE = `
select d.id, d.owner_id as "ownerId", d.mode, d.agent_id as "agentId", c.status = 'active' as "isActive",
  coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from delegations d
join customers c on c.id = d.owner_id
left join tenant_clocks t on t.owner_id = d.owner_id and t.mode = d.mode
where d.code_hash = $1`

/** Why the code cannot be redeemed; undefined if it can. */
function blockerOf({ status, codeExpiresAt }: Delegation, now: Date) {
  if (status === 'revoked') return 'code_revoked'
  if (status === 'redeemed') return 'code_used'
  return status === 'expired' || codeExpiresAt <= now ? 'code_expired' : undefined
}

/** The code is the credential: the request acts for the tenant of its delegation. The locked agent lets one of many redeem it. */
export const redeem: HandlerOf<typeof delegationsApi.redeem> = async ({ body }, context) => {
  const { records, sql, actFor, emit, refuse } = context
  const [found] = await sql<DelegationOfCode>(FIND_BY_CODE, [hashOf(body.code)])
  if (!found) return refuse('code_not_found')
  if (!found.isActive) return refuse('owner_suspended')
  const { ownerId, mode } = found
  const now = clock.tenant(found.offsetMs)
  actFor({ ownerId, mode }, now)
  await lockAgent(records, found.agentId)
  const delegation = (await records.lock(Delegation, found.id)) as Delegation
  const blocker = blockerOf(delegation, now)
  if (blocker) return refuse(blocker)
  delegationMachine.move(delegation, 'redeemed')
  // Tokens expire by real time. If the tenant's clock is moved on, the delegation revokes its token sooner.
  const tokenExpiresAt = after(clock.real(), delegation.expiresAt.getTime() - now.getTime())
  const { tokenId, secret } = issueDelegationToken(delegation, tokenExpiresAt, context)
  Object.assign(delegation, { redeemedAt: now, tokenId })
  emit('delegation.redeemed', delegationEvent(delegation))
  const response = await delegationResponse(delegation, { sql, tenant: { ownerId, mode }, now })
  return Object.assign(response, { token: secret })
}

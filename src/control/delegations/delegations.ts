import { keyExpiryProblem, lockCaller } from '../../identity/keys/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { type Mode, personBehind } from '../../kernel/contract/actor.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers, type HandlerOf, type InputOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashAndHint, hashSecret, newSecret } from '../../kernel/database/credential.ts'
import { definedOnly, FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { quoted } from '../../statements/index.ts'
import { addMs, clock, days, minutes } from '../../values/clock.ts'
import { formatMoney } from '../../values/money.ts'
import {
  agentTokenRevokedEvent,
  defaultTokenScopes,
  issueDelegationToken,
  revokeDelegationTokens,
} from '../agent-tokens/index.ts'
import { AgentEvent, lockAgent, lockAgentsWhere, wideningsOfAgent } from '../agents/index.ts'
import { delegationRevokedEvent, delegationsApi } from './api.ts'
import {
  Delegation,
  delegationBlocker,
  delegationBoundsText,
  delegationMachine,
  OPEN_DELEGATION_SQL,
} from './delegation.ts'
import { delegationEvent, delegationResponse, delegationResponses } from './response.ts'

interface DelegationOfCode extends Row {
  id: string
  ownerId: string
  mode: Mode
  agentId: string
  isActive: boolean
  offsetMs: number
}

/** Searches by digest, so that the duration reveals nothing about existing codes. */
const FIND_BY_CODE = `
select d.id, d.owner_id as "ownerId", d.mode, d.agent_id as "agentId", c.status = 'active' as "isActive",
  coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from delegations d
join customers c on c.id = d.owner_id
left join tenant_clocks t on t.owner_id = d.owner_id and t.mode = d.mode
where d.code_hash = $1`

function redemptionBlocker({ status, codeExpiresAt }: Delegation, now: Date) {
  if (status === 'revoked') return 'code_revoked'
  if (status === 'redeemed') return 'code_used'
  return status === 'expired' || codeExpiresAt <= now ? 'code_expired' : undefined
}

/**
 * The code is the credential, so the request acts for the tenant of its delegation. The lock of the agent
 * lets only one of many requests redeem it.
 */
const redeem: HandlerOf<typeof delegationsApi.redeem> = async ({ body }, context) => {
  const { em, sql, switchTenant, emit, refuse } = context
  const [found] = await sql<DelegationOfCode>(FIND_BY_CODE, [hashSecret(body.code)])
  if (!found) return refuse('code_not_found')
  if (!found.isActive) return refuse('owner_suspended')
  const { ownerId, mode } = found
  const now = clock.tenant(found.offsetMs)
  switchTenant({ ownerId, mode }, now)
  await lockAgent(em, found.agentId)
  const delegation = (await em.findOne(Delegation, { id: found.id }, FOR_UPDATE)) as Delegation
  const blocker = redemptionBlocker(delegation, now)
  if (blocker) return refuse(blocker)
  delegationMachine.move(delegation, 'redeemed')
  // Tokens expire by real time. If the tenant's clock moves ahead, the delegation revokes its token sooner.
  const tokenExpiresAt = addMs(clock.real(), delegation.expiresAt.getTime() - now.getTime())
  const { tokenId, secret } = issueDelegationToken(delegation, tokenExpiresAt, context)
  Object.assign(delegation, { redeemedAt: now, tokenId })
  emit('delegation.redeemed', delegationEvent(delegation))
  const response = await delegationResponse(delegation, context)
  return Object.assign(response, { token: secret })
}

/** A delegation that expires earlier also ends its code. */
const CODE_LIFETIME_MS = days(1)

const find = (em: EntityReader, id: string): Promise<Delegation | null> => em.findOne(Delegation, { id })

const AGENT_OF =
  'id = (select d.agent_id from delegations d where d.owner_id = ? and d.mode = ? and d.id = ?)'

/**
 * Locks the agent of a delegation before the delegations, in the order of spending, so that no intent is
 * approved by the state before the change.
 */
const lockAgentOf = (id: string, { em, tenant }: WriteContext) =>
  lockAgentsWhere(em, sqlCondition(AGENT_OF, [tenant.ownerId, tenant.mode, id]))

const SUBTREE = `id = any(array(
  with recursive subtree as (
    select d.id, d.status from delegations d where d.owner_id = ? and d.mode = ? and d.id = ?
    union all
    select d.id, d.status from delegations d join subtree s on d.parent_delegation_id = s.id
    where d.owner_id = ? and d.mode = ?
  )
  select s.id from subtree s where s.id = ? or s.${OPEN_DELEGATION_SQL}))`

async function lockSubtree(id: string, context: WriteContext): Promise<Delegation[]> {
  const { ownerId, mode } = context.tenant
  const condition = sqlCondition(SUBTREE, [ownerId, mode, id, ownerId, mode, id])
  const [, subtree] = await Promise.all([
    lockAgentOf(id, context),
    context.em.find(Delegation, condition, FOR_UPDATE_BY_ID),
  ])
  return subtree
}

async function revokeAll(
  open: readonly Delegation[],
  context: WriteContext<typeof delegationRevokedEvent & typeof agentTokenRevokedEvent>,
): Promise<void> {
  const { now, emit } = context
  for (const delegation of open) {
    delegationMachine.move(delegation, 'revoked')
    delegation.revokedAt = now
    emit('delegation.revoked', delegationEvent(delegation))
  }
  const ids = open.map(({ id }) => id)
  await revokeDelegationTokens(ids, context)
}

type NewDelegation = InputOf<typeof delegationsApi.create>['body']

const newDelegationInWords = ({
  label,
  maxAmountCents,
  merchant,
  expiresInMinutes,
  parentDelegationId,
}: NewDelegation) => ({
  field: 'New delegation',
  from: 'none',
  to: [
    ...(label === null ? [] : [quoted(label)]),
    `${formatMoney(maxAmountCents)} in all`,
    ...(merchant === null ? [] : [`only for ${quoted(merchant)}`]),
    `for ${expiresInMinutes} minutes`,
    ...(parentDelegationId === null ? [] : [`below ${parentDelegationId}`]),
  ].join(', '),
})

const delegations = bindHandlers(delegationsApi, {
  redeem,

  async create({ body: { expiresInMinutes, webauthnAssertion, ...body } }, context) {
    const { em, actor, now, emit, refuse } = context
    const agent = await lockAgent(em, body.agentId)
    if (!agent) return refuse('agent_not_found')
    const expiresAt = addMs(now, minutes(expiresInMinutes))
    const parentRecord = body.parentDelegationId ? await find(em, body.parentDelegationId) : undefined
    if (parentRecord === null) return refuse('parent_not_found')
    const parent = parentRecord && (await delegationResponse(parentRecord, context))
    const blocker = parent && delegationBlocker({ ...body, expiresAt }, parent, now)
    if (blocker) return refuse(blocker, delegationBoundsText(parent, now)[blocker])
    const expiresAtReal = addMs(clock.real(), minutes(expiresInMinutes))
    const caller = await lockCaller(context)
    if (caller.limits.boundTo !== null) return refuse('binding_not_held')
    const problem = keyExpiryProblem(expiresAtReal, caller)
    if (problem) return refuse('expires_too_late', `expiresInMinutes: ${problem}`)
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => wideningsOfAgent(agent, [newDelegationInWords({ ...body, expiresInMinutes })]),
      context,
    )
    if (unsigned) return unsigned
    const code = newSecret('dlg_')
    const { hash: codeHash, hint } = hashAndHint(code)
    const latestCodeExpiry = addMs(now, CODE_LIFETIME_MS)
    const delegation = em.create(Delegation, {
      ...body,
      merchant: body.merchant ?? parent?.merchant ?? null,
      ancestors: parent ? [...parent.ancestors, parent.id] : [],
      scopes: defaultTokenScopes(actor),
      personId: personBehind(actor),
      codeHash,
      hint,
      codeExpiresAt: latestCodeExpiry < expiresAt ? latestCodeExpiry : expiresAt,
      expiresAt,
    })
    emit('delegation.created', delegationEvent(delegation))
    return Object.assign(await delegationResponse(delegation, context), { code })
  },

  async list({ query: { status, agentId, parentDelegationId } }, context) {
    const page = await context.page(Delegation, definedOnly({ status, agentId, parentDelegationId }))
    return { ...page, data: await delegationResponses(page.data, context) }
  },

  get: getRecordAs(Delegation, 'delegation_not_found', delegationResponse),

  async revoke({ params }, context) {
    const subtree = await lockSubtree(params.id, context)
    const delegation = subtree.find(({ id }) => id === params.id)
    if (!delegation) return context.refuse('delegation_not_found')
    if (delegationMachine.isFinal(delegation.status)) return context.refuse('delegation_over')
    await revokeAll(subtree, context)
    await context.runReactions()
    return delegationResponse(delegation, context)
  },

  async expire({ params }, context) {
    const { em, now, emit, refuse } = context
    const [, delegation] = await Promise.all([
      lockAgentOf(params.id, context),
      em.findOne(Delegation, { id: params.id }, FOR_UPDATE),
    ])
    if (!delegation) return refuse('delegation_not_found')
    if (delegation.expiresAt > now || !delegationMachine.move(delegation, 'expired'))
      return { expired: false }
    emit('delegation.expired', delegationEvent(delegation))
    await revokeDelegationTokens([delegation.id], context)
    return { expired: true }
  },
})

const onAgentDeleting = reaction(
  AgentEvent,
  { ...delegationRevokedEvent, ...agentTokenRevokedEvent },
  async ({ agentId }, context) => {
    const condition = { agentId, ...sqlCondition(OPEN_DELEGATION_SQL) }
    await revokeAll(await context.em.find(Delegation, condition, FOR_UPDATE_BY_ID), context)
  },
)

const expiry: Deadline = {
  process: { name: 'delegation' },
  table: 'delegations',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN_DELEGATION_SQL,
  operations: ['delegations.expire'],
}

export const delegationsArea = area(
  'Delegations',
  'Parts of what an agent may spend, delegated by a code that is redeemed for a token.',
  delegations,
  {
    aliases: { delegations: 'authorizations' },
    entities: [Delegation],
    machines: [delegationMachine],
    deadlines: [expiry],
    reactions: { 'agent.deleting': onAgentDeleting },
  },
)

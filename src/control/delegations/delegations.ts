import { type EntityManager, LockMode, raw } from '@mikro-orm/postgresql'
import { expiryProblem, lockCallingKey } from '../../identity/keys/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { newSecret, traceOf } from '../../kernel/database/credential.ts'
import { definedOnly, lock } from '../../kernel/database/entity.ts'
import { after, clock, days, minutes } from '../../values/clock.ts'
import { givenBy, revokeTokensOf, TokenRevoked } from '../agent-tokens/index.ts'
import { AgentEvent, lockAgent } from '../agents/index.ts'
import { DelegationRevoked, delegationsApi } from './api.ts'
import { boundsOf, Delegation, delegationMachine, OPEN, obstacleTo } from './delegation.ts'
import { delegationProcess } from './process.ts'
import { redeem } from './redeem.ts'
import { about, shown, withUses } from './response.ts'

/** How long a code waits to be redeemed, at most. */
const CODE_WAITS = days(1)

const find = (em: EntityManager, id: string): Promise<Delegation | null> => em.findOne(Delegation, { id })

/** Whoever spends holds the agent: whoever changes a delegation does so too, and nothing is approved on what it was before. */
async function lockDelegation(em: EntityManager, id: string): Promise<Delegation | null> {
  const delegation = await find(em, id)
  if (delegation) await lockAgent(em, delegation.agentId)
  return delegation && lock(em, Delegation, id)
}

type Ending = Pick<Context<never, typeof DelegationRevoked & typeof TokenRevoked>, 'em' | 'now' | 'emit'>

/** Those of them that are open end, and so do their tokens. */
async function revokeAll(which: object, { em, now, emit }: Ending): Promise<void> {
  const open = await em.find(
    Delegation,
    { ...which, [raw(OPEN)]: [] },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
  )
  for (const delegation of open) {
    delegationMachine.move(delegation, 'revoked')
    delegation.revokedAt = now
    emit('delegation.revoked', about(delegation))
  }
  const ids = open.map(({ id }) => id)
  await revokeTokensOf(ids, { em, emit })
}

const BELOW = `
with recursive family as (
  select id from delegations where owner_id = $1 and mode = $2 and id = $3
  union all
  select d.id from delegations d join family f on d.parent_delegation_id = f.id where d.owner_id = $1 and d.mode = $2
)
select id from family`

/** A delegation and all below it. */
const familyOf = async (sql: Sql, { ownerId, mode }: Tenant, id: string): Promise<string[]> =>
  (await sql<{ id: string } & Row>(BELOW, [ownerId, mode, id])).map(row => row.id)

const delegations = implement(delegationsApi, {
  redeem,

  async create({ body: { expiresInMinutes, ...body } }, context) {
    const { em, actor, now, emit, refuse } = context
    const agent = await lockAgent(em, body.agentId)
    if (!agent) return refuse('agent_not_found')
    const expiresAt = after(now, minutes(expiresInMinutes))
    const known = body.parentDelegationId ? await find(em, body.parentDelegationId) : undefined
    if (known === null) return refuse('parent_not_found')
    const parent = known && (await shown(known, context))
    const obstacle = parent && obstacleTo({ ...body, expiresAt }, parent, now)
    if (obstacle) return refuse(obstacle, boundsOf(parent, now)[obstacle])
    const late = expiryProblem(after(clock.real(), minutes(expiresInMinutes)), await lockCallingKey(context))
    if (late) return refuse('expires_too_late', `expiresInMinutes: ${late}`)
    const code = newSecret('dlg_')
    const { hash: codeHash, hint } = traceOf(code)
    const codeEnds = after(now, CODE_WAITS)
    const delegation = em.create(Delegation, {
      ...body,
      merchant: body.merchant ?? parent?.merchant ?? null,
      ancestors: parent ? [...parent.ancestors, parent.id] : [],
      scopes: givenBy(actor),
      codeHash,
      hint,
      codeExpiresAt: codeEnds < expiresAt ? codeEnds : expiresAt,
      expiresAt,
    })
    emit('delegation.created', about(delegation))
    return Object.assign(await shown(delegation, context), { code })
  },

  async list({ query: { status, agentId, parentDelegationId } }, context) {
    const found = await context.page(Delegation, definedOnly({ status, agentId, parentDelegationId }))
    return { ...found, data: await withUses(found.data, context) }
  },

  async get({ params }, context) {
    const delegation = await find(context.em, params.id)
    return delegation ? shown(delegation, context) : context.refuse('delegation_not_found')
  },

  async revoke({ params }, context) {
    const { em, sql, tenant, refuse } = context
    const delegation = await lockDelegation(em, params.id)
    if (!delegation) return refuse('delegation_not_found')
    if (delegationMachine.isFinal(delegation.status)) return refuse('delegation_over')
    await revokeAll({ id: { $in: await familyOf(sql, tenant, delegation.id) } }, context)
    await context.react()
    return shown(delegation, context)
  },

  async expire({ params }, { em, now, emit, refuse }) {
    const delegation = await lockDelegation(em, params.id)
    if (!delegation) return refuse('delegation_not_found')
    if (delegation.expiresAt > now || !delegationMachine.move(delegation, 'expired'))
      return { expired: false }
    emit('delegation.expired', about(delegation))
    await revokeTokensOf([delegation.id], { em, emit })
    return { expired: true }
  },
})

/** An agent that is on its way out hands nothing on. */
const onAgentDeleting = reaction(
  AgentEvent,
  { ...DelegationRevoked, ...TokenRevoked },
  ({ agentId }, context) => revokeAll({ agentId }, context),
)

const end: Deadline = {
  process: delegationProcess,
  table: 'delegations',
  record: 'id',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN,
  waits: 'false',
  operations: ['delegations.expire'],
}

export const delegationsArea = area(
  'Delegations',
  'Parts of what an agent may spend, handed on by a code that is redeemed for a token.',
  delegations,
  {
    aliases: { delegations: 'authorizations' },
    entities: [Delegation],
    machines: [delegationMachine],
    deadlines: [end],
    reactions: { 'agent.deleting': onAgentDeleting },
  },
)

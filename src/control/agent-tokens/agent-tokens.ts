import { type FilterQuery, LockMode } from '@mikro-orm/core'
import { authenticator, expiryProblem, lockCallingKey, missingScope } from '../../identity/keys/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { type Scope, tokenScopes } from '../../kernel/contract/scopes.ts'
import { newSecret, traceOf } from '../../kernel/database/credential.ts'
import { lock } from '../../kernel/database/entity.ts'
import { after, clock, days } from '../../values/clock.ts'
import { AgentEvent, findAgent, lockAgent } from '../agents/index.ts'
import { AgentToken } from './agent-token.ts'
import { agentTokensApi, type TokenCreated, TokenRevoked } from './api.ts'
import { shown, withUses } from './response.ts'

/** What a token has when nothing is said: as much of it as its maker has. */
export const givenBy = ({ scopes }: Actor): Scope[] => tokenScopes.given.filter(scope => scopes.has(scope))

const about = ({ id, agentId, label, expiresAt, delegationId }: AgentToken) => ({
  ...{ tokenId: id, agentId, label, expiresAt },
  ...(delegationId ? { delegationId } : {}),
})

/** When a token stops: when the key does that makes it, where nothing is said. */
const endOf = (inDays: number | null | undefined, otherwise: Date | null): Date | null => {
  if (inDays === undefined) return otherwise
  return inDays === null ? null : after(clock.real(), days(inDays))
}

const agentTokens = implement(agentTokensApi, {
  async create({ params, body: { label, scopes: wanted = [], expiresInDays, maxAmountEuros } }, context) {
    const { em, actor, tenant, emit, refuse } = context
    const never = wanted.find(scope => tokenScopes.never.includes(scope))
    if (never) return refuse('scope_never_given', `scopes: no agent token can have ${never}.`)
    const lacks = missingScope(wanted, actor)
    if (lacks) return refuse('scope_not_held', `scopes: the calling key does not have ${lacks} itself.`)
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const maker = await lockCallingKey(context)
    const expiresAt = endOf(expiresInDays, maker.expiresAt)
    const late = expiryProblem(expiresAt, maker)
    if (late) return refuse('expires_too_late', `expiresInDays: ${late}`)
    const secret = newSecret(`at_${tenant.mode}_`)
    const token = em.create(AgentToken, {
      agentId: agent.id,
      label,
      scopes: wanted.length > 0 ? wanted : givenBy(actor),
      maxAmountEuros,
      expiresAt,
      ...traceOf(secret),
    })
    emit('token.created', about(token))
    return Object.assign(await shown(token, context), { token: secret })
  },

  async list({ params }, context) {
    const { em, page, refuse } = context
    const agent = await findAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const found = await page(AgentToken, { agentId: agent.id })
    return { ...found, data: await withUses(found.data, context) }
  },

  async get({ params }, context) {
    const token = await context.em.findOne(AgentToken, { id: params.tokenId, agentId: params.id })
    return token ? shown(token, context) : context.refuse('token_not_found')
  },

  async revoke({ params }, context) {
    const { em, emit, refuse } = context
    const token = await lock(em, AgentToken, params.tokenId)
    if (token?.agentId !== params.id) return refuse('token_not_found')
    if (token.revokedAt) return refuse('token_revoked')
    token.revokedAt = clock.real()
    emit('token.revoked', about(token))
    return shown(token, context)
  },
})

type Revoking = Pick<Context<never, typeof TokenRevoked>, 'em' | 'emit'>

/** All of these that are open, for good. */
async function revokeAll(which: FilterQuery<AgentToken>, { em, emit }: Revoking): Promise<void> {
  const tokens = await em.find(
    AgentToken,
    { $and: [which, { revokedAt: null }] },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
  )
  for (const token of tokens) {
    token.revokedAt = clock.real()
    emit('token.revoked', about(token))
  }
}

/** The tokens that were redeemed for these delegations. */
export const revokeTokensOf = (delegationIds: string[], context: Revoking): Promise<void> =>
  revokeAll({ delegationId: { $in: delegationIds } }, context)

interface Delegated {
  readonly id: string
  readonly agentId: string
  readonly label: string | null
  readonly scopes: Scope[]
}

/** The one token of a delegation, good until then, and its secret. */
export function issueTokenOf(
  { id: delegationId, agentId, label, scopes }: Delegated,
  expiresAt: Date,
  { em, emit }: Pick<Context<never, typeof TokenCreated>, 'em' | 'emit'>,
): { tokenId: string; secret: string } {
  const secret = newSecret('at_dlg_')
  const members = { agentId, label: label ?? 'Delegation', scopes, expiresAt, delegationId }
  const token = em.create(AgentToken, { ...members, ...traceOf(secret) })
  emit('token.created', about(token))
  return { tokenId: token.id, secret }
}

/** An agent that is on its way out calls no more. */
const onAgentDeleting = reaction(AgentEvent, TokenRevoked, ({ agentId }, context) =>
  revokeAll({ agentId }, context),
)

export const agentTokensArea = area(
  'Agent Tokens',
  'The secrets that agents call with: narrow, and each for one agent.',
  agentTokens,
  {
    entities: [AgentToken],
    credentials: {
      at: authenticator('agent', 'agent_tokens', {
        agent: 's.agent_id',
        delegation: 's.delegation_id',
        budget: 'case when s.max_amount_cents is not null then s.id end',
      }),
    },
    endsCredentials: ['token.revoked'],
    reactions: { 'agent.deleting': onAgentDeleting },
  },
)

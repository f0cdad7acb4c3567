import { LockMode } from '@mikro-orm/core'
import { authenticator, lacking } from '../../identity/keys/keys.ts'
import { area, reaction } from '../../kernel/area.ts'
import { after, clock, days } from '../../kernel/clock.ts'
import { implement } from '../../kernel/operation.ts'
import { lock } from '../../kernel/record.ts'
import { tokenScopes } from '../../kernel/scopes.ts'
import { newSecret, traceOf } from '../../kernel/secrets.ts'
import { AgentEvent, findAgent, lockAgent } from '../agents/agents.ts'
import { AgentToken } from './agent-token.ts'
import { agentTokensApi, TokenRevoked } from './api.ts'

const about = ({ id, agentId, label, expiresAt }: AgentToken) => ({ tokenId: id, agentId, label, expiresAt })

const agentTokens = implement(agentTokensApi, {
  async create(
    { params, body: { label, scopes: wanted = [], expiresInDays } },
    { em, actor, tenant, emit, refuse },
  ) {
    const never = wanted.find(scope => tokenScopes.never.includes(scope))
    if (never) return refuse('scope_never_given', `scopes: no agent token can have ${never}.`)
    const lacks = lacking(wanted, actor)
    if (lacks) return refuse('scope_not_held', `scopes: the calling key does not have ${lacks} itself.`)
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const expiresAt = expiresInDays === null ? null : after(clock.real(), days(expiresInDays))
    const secret = newSecret(`at_${tenant.mode}_`)
    const token = em.create(AgentToken, {
      agentId: agent.id,
      label,
      scopes: wanted.length > 0 ? wanted : tokenScopes.given.filter(scope => actor.scopes.has(scope)),
      expiresAt,
      ...traceOf(secret),
    })
    emit('token.created', about(token))
    return Object.assign(token, { token: secret })
  },

  async list({ params }, { em, page, refuse }) {
    const agent = await findAgent(em, params.id)
    return agent ? page(AgentToken, { agentId: agent.id }) : refuse('agent_not_found')
  },

  async get({ params }, { em, refuse }) {
    const token = await em.findOne(AgentToken, { id: params.tokenId, agentId: params.id })
    return token ?? refuse('token_not_found')
  },

  async revoke({ params }, { em, emit, refuse }) {
    const token = await lock(em, AgentToken, params.tokenId)
    if (token?.agentId !== params.id) return refuse('token_not_found')
    if (token.revokedAt) return refuse('token_revoked')
    token.revokedAt = clock.real()
    emit('token.revoked', about(token))
    return token
  },
})

/** An agent that is on its way out calls no more. */
const onAgentDeleting = reaction(AgentEvent, TokenRevoked, async ({ agentId }, { em, emit }) => {
  const standing = { agentId, revokedAt: null }
  const tokens = await em.find(AgentToken, standing, {
    orderBy: { id: 'asc' },
    lockMode: LockMode.PESSIMISTIC_WRITE,
  })
  for (const token of tokens) {
    token.revokedAt = clock.real()
    emit('token.revoked', about(token))
  }
})

export const agentTokensArea = area(
  'Agent Tokens',
  'The secrets that agents call with: narrow, and each for one agent.',
  agentTokens,
  {
    entities: [AgentToken],
    credentials: { at: authenticator('agent', 'agent_tokens', 's.agent_id') },
    reactions: { 'agent.deleting': onAgentDeleting },
  },
)

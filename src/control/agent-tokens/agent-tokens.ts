import type { FilterQuery } from '@mikro-orm/core'
import {
  keyExpiryProblem,
  lockCaller,
  scopeCallerLacks,
  secretAuthenticator,
} from '../../identity/keys/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { type Actor, personBehind } from '../../kernel/contract/actor.ts'
import { type AuthenticateSecret, area, reaction } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type InputOf } from '../../kernel/contract/operation.ts'
import { expandScopes, type Scope, tokenScopes } from '../../kernel/contract/scopes.ts'
import { hashAndHint, newBearerSecret, newSecret } from '../../kernel/database/credential.ts'
import { definedOnly, FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { quoted } from '../../statements/index.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import { formatMoney } from '../../values/money.ts'
import { AgentEvent, findAgent, lockAgent, wideningsOfAgent } from '../agents/index.ts'
import { AgentToken, agentTokenResponse, agentTokenResponses } from './agent-token.ts'
import { type agentTokenCreatedEvent, agentTokenRevokedEvent, agentTokensApi } from './api.ts'

export const defaultTokenScopes = ({ scopes }: Actor): Scope[] =>
  tokenScopes.given.filter(scope => scopes.has(scope))

const tokenEvent = ({ id, agentId, label, expiresAt, delegationId }: AgentToken) => ({
  tokenId: id,
  agentId,
  label,
  expiresAt,
  ...(delegationId ? { delegationId } : {}),
})

/** Null means never. If left out, the token expires together with the creating key. */
function tokenExpiry(expiresInDays: number | null | undefined, keyExpiresAt: Date | null): Date | null {
  if (expiresInDays === undefined) return keyExpiresAt
  return expiresInDays === null ? null : addMs(clock.real(), days(expiresInDays))
}

type NewToken = InputOf<typeof agentTokensApi.create>['body']

function newTokenInWords({ label, scopes, maxAmountCents, expiresInDays, publicKeyJwk }: NewToken) {
  const parts = [
    quoted(label),
    ...(scopes ? [`with ${scopes.join(', ')}`] : []),
    ...(maxAmountCents === null ? [] : [`at most ${formatMoney(maxAmountCents)} in all`]),
    expiresInDays ? `for ${expiresInDays} ${expiresInDays === 1 ? 'day' : 'days'}` : 'without end',
    ...(publicKeyJwk ? [`bound to the key ${publicKeyJwk.thumbprint}`] : []),
  ]
  return { field: 'New token', from: 'none', to: parts.join(', ') }
}

const agentTokens = bindHandlers(agentTokensApi, {
  async create({ params, body }, context) {
    const { em, actor, tenant, settings, emit, refuse } = context
    const { label, scopes: names = [], expiresInDays, maxAmountCents, publicKeyJwk } = body
    const scopes = expandScopes(names)
    const missing = scopeCallerLacks(scopes, actor)
    if (missing) return refuse('scope_not_held', `scopes: the calling key does not have ${missing} itself.`)
    const agent = await lockAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const caller = await lockCaller(context)
    const expiresAt = tokenExpiry(expiresInDays, caller.expiresAt)
    const problem = keyExpiryProblem(expiresAt, caller)
    if (problem) return refuse('expires_too_late', `expiresInDays: ${problem}`)
    const boundTo = publicKeyJwk?.thumbprint ?? null
    if (caller.limits.boundTo !== null && boundTo === null) return refuse('binding_needed')
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      () => wideningsOfAgent(agent, [newTokenInWords(body)]),
      context,
    )
    if (unsigned) return unsigned
    const secret = newBearerSecret(`at_${tenant.mode}_`, settings)
    const token = em.create(AgentToken, {
      agentId: agent.id,
      label,
      scopes: scopes.length > 0 ? scopes : defaultTokenScopes(actor),
      maxAmountCents,
      boundTo,
      personId: personBehind(actor),
      expiresAt,
      ...hashAndHint(secret),
    })
    emit('token.created', tokenEvent(token))
    return Object.assign(await agentTokenResponse(token, context), { token: secret })
  },

  async list({ params }, context) {
    const { em, page, refuse } = context
    const agent = await findAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const tokens = await page(AgentToken, { agentId: agent.id })
    return { ...tokens, data: await agentTokenResponses(tokens.data, context) }
  },

  async listAll({ query: { agentId } }, context) {
    const tokens = await context.page(AgentToken, definedOnly({ agentId }))
    return { ...tokens, data: await agentTokenResponses(tokens.data, context) }
  },

  async get({ params }, context) {
    const token = await context.em.findOne(AgentToken, { id: params.tokenId, agentId: params.id })
    return token ? agentTokenResponse(token, context) : context.refuse('token_not_found')
  },

  async revoke({ params }, context) {
    const { em, emit, refuse } = context
    // The agent first, as spending does: the end of an assistant cancels its intents, and none is added meanwhile.
    const [, token] = await Promise.all([
      lockAgent(em, params.id),
      em.findOne(AgentToken, { id: params.tokenId }, FOR_UPDATE),
    ])
    if (token?.agentId !== params.id) return refuse('token_not_found')
    if (token.revokedAt) return refuse('token_revoked')
    token.revokedAt = clock.real()
    emit('token.revoked', tokenEvent(token))
    return agentTokenResponse(token, context)
  },
})

async function revokeAll(
  filter: FilterQuery<AgentToken>,
  { em, emit }: WriteContext<typeof agentTokenRevokedEvent>,
): Promise<void> {
  const tokens = await em.find(AgentToken, { $and: [filter, { revokedAt: null }] }, FOR_UPDATE_BY_ID)
  for (const token of tokens) {
    token.revokedAt = clock.real()
    emit('token.revoked', tokenEvent(token))
  }
}

export async function revokeDelegationTokens(
  delegationIds: readonly string[],
  context: WriteContext<typeof agentTokenRevokedEvent>,
): Promise<void> {
  if (delegationIds.length > 0) await revokeAll({ delegationId: { $in: delegationIds } }, context)
}

interface TokenDelegation {
  readonly id: string
  readonly agentId: string
  readonly label: string | null
  readonly scopes: Scope[]
  /** Who made the delegation; anyone may redeem its code. */
  readonly personId: string | null
}

/** Returns the secret once; only its hash is stored. */
export function issueDelegationToken(
  { id: delegationId, agentId, label, scopes, personId }: TokenDelegation,
  expiresAt: Date,
  { em, settings, emit }: WriteContext<typeof agentTokenCreatedEvent>,
): { tokenId: string; secret: string } {
  const secret = newBearerSecret('at_dlg_', settings)
  const members = { agentId, label: label ?? 'Delegation', scopes, expiresAt, delegationId, personId }
  const token = em.create(AgentToken, { ...members, ...hashAndHint(secret) })
  emit('token.created', tokenEvent(token))
  return { tokenId: token.id, secret }
}

interface TokenOfAssistant {
  readonly agentId: string
  readonly label: string
  readonly scopes: Scope[]
  /** The path of the operation at which the assistant uses the token. */
  readonly onlyAt: string
  /** Thumbprint of the key that the client has proven (DPoP). */
  readonly boundTo: string | null
  /** The owner who connected it. */
  readonly personId: string
}

const ASSISTANT_TOKEN_PREFIX = 'at_mcp_'

export function issueAssistantToken(
  members: TokenOfAssistant,
  expiresAt: Date,
  { em, emit }: WriteContext<typeof agentTokenCreatedEvent>,
): { tokenId: string; secret: string } {
  const secret = newSecret(ASSISTANT_TOKEN_PREFIX)
  const token = em.create(AgentToken, { ...members, expiresAt, ...hashAndHint(secret) })
  emit('token.created', tokenEvent(token))
  return { tokenId: token.id, secret }
}

/** The old secret stops working. Undefined if the token has been revoked, or is bound to another key. */
export async function renewAssistantToken(
  tokenId: string,
  boundTo: string | null,
  expiresAt: Date,
  { em }: WriteContext,
): Promise<string | undefined> {
  const token = await em.findOne(AgentToken, { id: tokenId }, FOR_UPDATE)
  if (!token || token.revokedAt || token.boundTo !== boundTo) return undefined
  const secret = newSecret(ASSISTANT_TOKEN_PREFIX)
  Object.assign(token, { ...hashAndHint(secret), expiresAt })
  return secret
}

export const revokeAssistantToken = (
  tokenId: string,
  context: WriteContext<typeof agentTokenRevokedEvent>,
): Promise<void> => revokeAll({ id: tokenId }, context)

/** `mandateOf` is SQL for the mandate of a token `s` that one operation alone accepts. */
export const agentTokenAuthenticator = (mandateOf: string): AuthenticateSecret =>
  secretAuthenticator('agent', 'agent_tokens', {
    agent: 's.agent_id',
    delegation: 's.delegation_id',
    boundTo: 's.bound_to',
    budget: 'case when s.max_amount_cents is not null then s.id end',
    onlyAt: 's.only_at',
    ownMandate: `case when s.only_at is not null then (${mandateOf}) end`,
  })

const onAgentDeleting = reaction(AgentEvent, agentTokenRevokedEvent, ({ agentId }, context) =>
  revokeAll({ agentId }, context),
)

export const agentTokensArea = area(
  'Agent Tokens',
  'Credentials for agents: each token is for one agent, with limited scopes.',
  agentTokens,
  {
    entities: [AgentToken],
    endsCredentials: ['token.revoked'],
    reactions: { 'agent.deleting': onAgentDeleting },
  },
)

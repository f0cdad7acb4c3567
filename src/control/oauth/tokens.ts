import { createHash } from 'node:crypto'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { checkProof, useProof } from '../../kernel/database/proof.ts'
import { addMs, clock } from '../../values/clock.ts'
import { issueAssistantToken, renewAssistantToken } from '../agent-tokens/index.ts'
import { lockAgent } from '../agents/index.ts'
import type { oauthApi } from './api.ts'
import { issuerOf, MCP_PATH } from './authorization.ts'
import { endGrant } from './end.ts'
import { assistantEvent } from './events.ts'
import {
  ACCESS_TOKEN_TTL_MS,
  type GrantEndReason,
  grantMachine,
  isSecretOf,
  newRefreshFamily,
  newRefreshPart,
  OauthGrant,
  splitRefreshToken,
} from './grant.ts'

type Token = HandlerOf<typeof oauthApi.token>
type TokenContext = ContextOf<typeof oauthApi.token>
type TokenRequest = Parameters<Token>[0]['body']

interface FoundGrant extends Row {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly agentId: string
  readonly isActive: boolean
  readonly offsetMs: number
}

const finding = (condition: string): string => `
select g.id, g.owner_id as "ownerId", g.mode, g.agent_id as "agentId", c.status = 'active' as "isActive",
  coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from oauth_grants g
join customers c on c.id = g.owner_id
left join tenant_clocks t on t.owner_id = g.owner_id and t.mode = g.mode
where ${condition}`

/** Each searches by the digest, so that the response time reveals nothing about existing secrets. */
const BY_CODE = finding('g.code_hash = $1')
const BY_FAMILY = finding('g.family_hash = $1')
const BY_ACCESS_TOKEN = finding(
  '(g.owner_id, g.mode, g.token_id) = (select s.owner_id, s.mode, s.id from agent_tokens s where s.hash = $1)',
)

interface LockedGrant {
  readonly grant: OauthGrant
  readonly tenant: Tenant
  readonly now: Date
  /** Whether account and agent may be used at all. */
  readonly isUsable: boolean
}

/** The secret is the credential, so the request acts for the tenant of the grant. */
async function lockGrant(
  text: string,
  secret: string,
  { em, sql, switchTenant }: Context,
): Promise<LockedGrant | undefined> {
  const [found] = await sql<FoundGrant>(text, [hashSecret(secret)])
  if (!found) return undefined
  const { ownerId, mode, offsetMs, agentId, isActive } = found
  const now = clock.tenant(offsetMs)
  const tenant = { ownerId, mode }
  switchTenant(tenant, now)
  const agent = await lockAgent(em, agentId)
  const grant = (await em.findOne(OauthGrant, { id: found.id }, FOR_UPDATE)) as OauthGrant
  return { grant, tenant, now, isUsable: isActive && agent !== null }
}

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

const VERIFIER = /^[\w.~-]{43,128}$/

const isOfCode = (
  grant: OauthGrant,
  { client_id, redirect_uri, code_verifier = '' }: TokenRequest,
): boolean =>
  client_id === grant.clientId &&
  redirect_uri === grant.redirectUri &&
  VERIFIER.test(code_verifier) &&
  challengeOf(code_verifier) === grant.codeChallenge

/** Ends the grant, and is committed with the refusal. */
async function refuseAndEnd({ grant }: LockedGrant, because: GrantEndReason, context: TokenContext) {
  await endGrant(grant, because, context)
  return context.refuse('invalid_grant')
}

/** The token lives in real time, the grant by the tenant's clock. */
function accessExpiry({ expiresAt }: OauthGrant, now: Date): Date {
  const leftMs = expiresAt.getTime() - now.getTime()
  return addMs(clock.real(), Math.min(ACCESS_TOKEN_TTL_MS, leftMs))
}

interface IssuedTokens {
  readonly secret: string
  readonly refreshToken: string
  readonly expiresAt: Date
  readonly boundTo: string | null
}

const tokenAnswer = ({ scopes }: OauthGrant, { secret, refreshToken, expiresAt, boundTo }: IssuedTokens) => ({
  access_token: secret,
  token_type: boundTo === null ? ('Bearer' as const) : ('DPoP' as const),
  expires_in: Math.max(0, Math.floor((expiresAt.getTime() - clock.milliseconds()) / 1_000)),
  refresh_token: refreshToken,
  scope: scopes.join(' '),
})

/** The thumbprint of the key that the client proves to hold (RFC 9449); null if it proves none. */
async function provenKey({ headers, service, sql, refuse }: TokenContext): Promise<string | null | Refusal> {
  if (headers.dpop === undefined) return null
  const addresses = [`${issuerOf(service)}/token`]
  const proof = checkProof(headers.dpop, { method: 'POST', addresses, nowMs: clock.milliseconds() })
  if (typeof proof === 'string' || !(await useProof(sql, proof))) return refuse('invalid_dpop_proof')
  return proof.thumbprint
}

async function redeemCode(body: TokenRequest, boundTo: string | null, context: TokenContext) {
  const { emit, refuse, em } = context
  const found = body.code ? await lockGrant(BY_CODE, body.code, context) : undefined
  if (!found) return refuse('invalid_grant')
  const { grant, now, isUsable } = found
  if (grant.status !== 'approved') return refuseAndEnd(found, 'code_replayed', context)
  if (!isOfCode(grant, body)) return refuseAndEnd(found, 'code_misused', context)
  if (!isUsable || (grant.dueAt && grant.dueAt <= now)) return refuseAndEnd(found, 'expired', context)
  if (grant.dpopJkt !== null && grant.dpopJkt !== boundTo) return refuseAndEnd(found, 'code_misused', context)
  if (body.resource !== undefined && body.resource !== grant.resource) return refuse('invalid_target')
  const { agentId, clientName: label, scopes, expiresAt: dueAt } = grant
  const expiresAt = accessExpiry(grant, now)
  const { tokenId, secret } = issueAssistantToken(
    { agentId, label, scopes, onlyAt: MCP_PATH, boundTo, personId: grant.personId },
    expiresAt,
    context,
  )
  await em.flush()
  const [family, part] = [newRefreshFamily(), newRefreshPart()]
  grantMachine.move(grant, 'connected')
  Object.assign(grant, { tokenId, dueAt, familyHash: hashSecret(family), refreshHash: hashSecret(part) })
  emit('assistant.connected', assistantEvent(grant))
  return tokenAnswer(grant, { secret, refreshToken: family + part, expiresAt, boundTo })
}

async function refresh(body: TokenRequest, boundTo: string | null, context: TokenContext) {
  const { refuse } = context
  const split = splitRefreshToken(body.refresh_token ?? '')
  if (!split) return refuse('invalid_grant')
  const found = await lockGrant(BY_FAMILY, split.family, context)
  if (found?.grant.status !== 'connected') return refuse('invalid_grant')
  const { grant, now, isUsable } = found
  if (!isSecretOf(grant.refreshHash, split.part)) return refuseAndEnd(found, 'refresh_replayed', context)
  if (body.client_id !== grant.clientId) return refuseAndEnd(found, 'refresh_misused', context)
  if (grant.expiresAt <= now) return refuseAndEnd(found, 'expired', context)
  if (body.resource !== undefined && body.resource !== grant.resource) return refuse('invalid_target')
  if (!isUsable) return refuse('invalid_grant')
  const expiresAt = accessExpiry(grant, now)
  const secret = await renewAssistantToken(String(grant.tokenId), boundTo, expiresAt, context)
  if (secret === undefined) return refuse('invalid_grant')
  const part = newRefreshPart()
  grant.refreshHash = hashSecret(part)
  return tokenAnswer(grant, { secret, refreshToken: split.family + part, expiresAt, boundTo })
}

export const issueTokens: Token = async ({ body }, context) => {
  const boundTo = await provenKey(context)
  if (boundTo instanceof Refusal) return boundTo
  if (body.grant_type === 'authorization_code') return redeemCode(body, boundTo, context)
  if (body.grant_type === 'refresh_token') return refresh(body, boundTo, context)
  return context.refuse('unsupported_grant_type')
}

/** Says nothing about whether the token existed. A token of another client stays as it is. */
export const revokeTokens: HandlerOf<typeof oauthApi.revoke> = async ({ body }, context) => {
  const split = splitRefreshToken(body.token)
  const found = split
    ? await lockGrant(BY_FAMILY, split.family, context)
    : await lockGrant(BY_ACCESS_TOKEN, body.token, context)
  if (found?.grant.clientId === body.client_id) await endGrant(found.grant, 'revoked_by_client', context)
  return {}
}

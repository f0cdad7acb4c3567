import { findPerson } from '../../identity/people/index.ts'
import type { CallerContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { expandScopes } from '../../kernel/contract/scopes.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs, days } from '../../values/clock.ts'
import { type Agent, createAgent, lockAgent, newAgentProblem } from '../agents/index.ts'
import { MAX_MANDATE_DAYS, openMandateChallenge, signMandate } from '../mandates/index.ts'
import type { oauthApi } from './api.ts'
import {
  type AuthorizationRequest,
  authorizationAnswer,
  grantedScopes,
  openRequest,
  resourceOf,
  statedAssistant,
} from './authorization.ts'
import { keepRegistration } from './client.ts'
import { assistantEvent } from './events.ts'
import { CODE_TTL_MS, newCode, OauthGrant } from './grant.ts'

type Approve = HandlerOf<typeof oauthApi.approve>
type ApproveContext = ContextOf<typeof oauthApi.approve>
type Body = Parameters<Approve>[0]['body']

const isOwner = ({ actor }: CallerContext): boolean =>
  ['tokens:write', 'mandates:write', 'agents:write'].every(scope => actor.scopes.has(scope))

/** The challenge names client, address and tools, so that the proof of the mandate shows who was let in. */
export const challengeAssistant: HandlerOf<typeof oauthApi.challenge> = async ({ body }, context) => {
  const { ticket, scopes, agentId, ...mandate } = body
  if (!isOwner(context)) return context.refuse('owner_needed')
  const request = openRequest(ticket, context)
  if (!request) return context.refuse('request_expired')
  const agent = { agentId: agentId ?? request.newAgentId, isNewAgent: agentId === null }
  const assistant = statedAssistant(request, scopes)
  return openMandateChallenge(
    { ...mandate, ...agent, assistant, personId: String(context.actor.id) },
    context,
  )
}

interface ChosenAgent {
  readonly agentId: string
  /** Undefined for an existing agent. */
  readonly createAgent: (() => Promise<Agent>) | undefined
}

function chosenAgent(
  { agentId }: Body,
  { newAgentId: id, client: { name } }: AuthorizationRequest,
  context: ApproveContext,
): ChosenAgent {
  if (agentId !== null) return { agentId, createAgent: undefined }
  return { agentId: id, createAgent: () => createAgent({ id, name }, context) }
}

/** The mandate that the person has signed; null where each payment is to be decided. A new agent is made with it. */
async function signedMandate(
  { name, constraints, expiresAt, scopes, webauthnAssertion }: Body,
  agent: ChosenAgent,
  request: AuthorizationRequest,
  context: ApproveContext,
): Promise<string | null | Refusal> {
  if (!constraints) {
    await agent.createAgent?.()
    return null
  }
  if (!webauthnAssertion) return context.refuse('assertion_required')
  const assistant = statedAssistant(request, scopes)
  const body = { ...agent, name, constraints, expiresAt, assistant, webauthnAssertion }
  const made = await signMandate(body, context)
  return made instanceof Refusal ? made : made.id
}

/** Locks the people, so that the person stays an owner until the commit. */
async function blockerOf({ agentId, expiresAt }: Body, context: ApproveContext) {
  const { em, now } = context
  if (expiresAt <= now) return 'expires_too_early'
  if (expiresAt > addMs(now, days(MAX_MANDATE_DAYS))) return 'expires_too_late'
  const [, person, agent] = await Promise.all([
    lockTenant(context, 'people'),
    findPerson(String(context.actor.id), context),
    agentId === null ? null : lockAgent(em, agentId),
  ])
  if (person?.status !== 'active' || person.role !== 'owner') return 'owner_needed'
  if (agentId === null) return (await newAgentProblem(null, context)) && 'approval_needed'
  if (!agent) return 'agent_not_found'
  return agent.status === 'active' ? undefined : 'agent_not_active'
}

const APPROVED = 'ticket: the request has been approved already. Start again in the assistant.'

export const approveAssistant: Approve = async ({ body }, context) => {
  const { em, sql, actor, now, service, emit, refuse } = context
  if (!isOwner(context)) return refuse('owner_needed')
  const request = openRequest(body.ticket, context)
  if (!request) return refuse('request_expired')
  const { grantId: id } = request
  if (await em.findOne(OauthGrant, { id })) return refuse('request_expired', APPROVED)
  const blocker = await blockerOf(body, context)
  if (blocker) return refuse(blocker)
  const agent = chosenAgent(body, request, context)
  const mandateId = await signedMandate(body, agent, request, context)
  if (mandateId instanceof Refusal) return mandateId
  const { client, redirectUri, codeChallenge, dpopJkt = null } = request
  const code = newCode()
  await em.flush()
  const grant = em.create(OauthGrant, {
    id,
    agentId: agent.agentId,
    personId: String(actor.id),
    clientId: client.clientId,
    clientName: client.name,
    clientHost: client.host,
    redirectUri,
    resource: resourceOf(service),
    scopes: expandScopes(grantedScopes(request, body.scopes)),
    codeHash: hashSecret(code),
    codeChallenge,
    dpopJkt,
    mandateId,
    expiresAt: body.expiresAt,
    dueAt: addMs(now, CODE_TTL_MS),
  })
  await keepRegistration(client.clientId, sql)
  emit('assistant.approved', assistantEvent(grant))
  return { id, redirectTo: authorizationAnswer(request, { code }, service) }
}

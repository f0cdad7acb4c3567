import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { AnswerWithHeaders, Refusal } from '../../kernel/contract/problem.ts'
import { expandScopes } from '../../kernel/contract/scopes.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import { addMs, days } from '../../values/clock.ts'
import { lockAgent } from '../agents/index.ts'
import { createMandate, MAX_MANDATE_DAYS } from '../mandates/index.ts'
import type { oauthApi } from './api.ts'
import { authorizationAnswer, openRequest, resourceOf } from './authorization.ts'
import { keepRegistration } from './client.ts'
import { assistantEvent } from './events.ts'
import { CODE_TTL_MS, newCode, OauthGrant } from './grant.ts'

type Approve = HandlerOf<typeof oauthApi.approve>
type ApproveContext = ContextOf<typeof oauthApi.approve>
type Choices = Parameters<Approve>[0]['body']

/** The mandate that the person has signed; null where each payment is to be decided. */
async function signedMandate(choices: Choices, context: ApproveContext): Promise<string | null | Refusal> {
  const { agentId, name, constraints, expiresAt, webauthnAssertion } = choices
  if (!constraints) return null
  if (!webauthnAssertion) return context.refuse('assertion_required')
  const body = { agentId, name, constraints, expiresAt, webauthnAssertion }
  const made = await createMandate({ params: {}, query: {}, body }, context)
  const answer = made instanceof AnswerWithHeaders ? made.answer : made
  return answer instanceof Refusal ? answer : answer.id
}

async function blockerOf(
  { agentId, expiresAt }: Choices,
  { records, now }: Pick<ApproveContext, 'records' | 'now'>,
) {
  if (expiresAt <= now) return 'expires_too_early'
  if (expiresAt > addMs(now, days(MAX_MANDATE_DAYS))) return 'expires_too_late'
  const agent = await lockAgent(records, agentId)
  if (!agent) return 'agent_not_found'
  return agent.status === 'active' ? undefined : 'agent_not_active'
}

export const approveAssistant: Approve = async ({ body }, context) => {
  const { records, sql, actor, now, ports, emit, refuse } = context
  if (!actor.scopes.has('tokens:write') || !actor.scopes.has('mandates:write')) return refuse('owner_needed')
  const request = openRequest(body.ticket, context)
  if (!request) return refuse('request_expired')
  const mandateId = await signedMandate(body, context)
  if (mandateId instanceof Refusal) return mandateId
  const blocker = await blockerOf(body, context)
  if (blocker) return refuse(blocker)
  const { client, redirectUri, codeChallenge } = request
  const code = newCode()
  await records.flush()
  const grant = records.create(OauthGrant, {
    agentId: body.agentId,
    personId: String(actor.id),
    clientId: client.clientId,
    clientName: client.name,
    clientHost: client.host,
    redirectUri,
    resource: resourceOf(ports),
    scopes: expandScopes(request.mayPay ? body.scopes : ['reader']),
    codeHash: hashSecret(code),
    codeChallenge,
    mandateId,
    expiresAt: body.expiresAt,
    dueAt: addMs(now, CODE_TTL_MS),
  })
  await keepRegistration(client.clientId, sql)
  emit('assistant.approved', assistantEvent(grant))
  return { id: grant.id, redirectTo: authorizationAnswer(request, { code }, ports) }
}

import { burnAssertion, openChallenge, verifyAssertion } from '../../identity/passkeys/index.ts'
import { findPerson } from '../../identity/people/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { roleScopes } from '../../kernel/contract/scopes.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import type { StatedConstraints, Subjects } from '../../statements/index.ts'
import { after, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { decimal, type Euros } from '../../values/money.ts'
import { lockAgent } from '../agents/index.ts'
import type { mandatesApi } from './api.ts'
import type { Constraints } from './constraints.ts'
import { MAX_DAYS, MAX_OPEN, Mandate, OPEN } from './mandate.ts'
import { mandateProcess } from './process.ts'
import { mandateEvent, mandateResponse } from './response.ts'

type Create = HandlerOf<typeof mandatesApi.create>
type Asked = Pick<Parameters<Create>[0]['body'], 'agentId' | 'constraints' | 'expiresAt'>

/** The kind of statement: `typ` of the JWS. */
export const MANDATE_TYPE = 'mandate'

const textOf = (amount: Euros | null): string | null => (amount === null ? null : decimal(amount))
const stated = (list: readonly string[]): readonly string[] | null => (list.length > 0 ? list : null)

const statedConstraints = (constraints: Constraints): StatedConstraints => ({
  perTransactionEuros: textOf(constraints.perTransactionEuros),
  perDayEuros: textOf(constraints.perDayEuros),
  perMonthEuros: textOf(constraints.perMonthEuros),
  totalEuros: textOf(constraints.totalEuros),
  count: constraints.count,
  merchants: stated(constraints.merchants),
  mccs: stated(constraints.mccs),
  countries: stated(constraints.countries),
})

/** What the person signs. */
const statedMandate = ({ agentId, constraints, expiresAt }: Asked): Subjects['mandate'] => ({
  agentId,
  constraints: statedConstraints(constraints),
  expiresAt: expiresAt.toISOString(),
})

/** Why no such mandate can be made for the agent, as the code of a refusal; undefined if it can. */
async function blockerOf({ agentId, expiresAt }: Asked, { records, now }: Pick<Context, 'records' | 'now'>) {
  if (expiresAt <= now) return 'expires_too_early'
  if (expiresAt > after(now, days(MAX_DAYS))) return 'expires_too_late'
  const open = await records.count(Mandate, { agentId, ...sqlCondition(OPEN) })
  return open >= MAX_OPEN ? 'too_many_mandates' : undefined
}

export const options: HandlerOf<typeof mandatesApi.options> = async ({ body }, context) => {
  const { records, actor, refuse } = context
  const agent = await lockAgent(records, body.agentId)
  if (!agent) return refuse('agent_not_found')
  const blocker = await blockerOf(body, context)
  if (blocker) return refuse(blocker)
  const personId = actor.type === 'console' ? actor.id : body.personId
  const members = statedMandate(body)
  return openChallenge({ kind: 'mandate', subjectId: agent.id, members, personId }, context)
}

/**
 * Verifies the signature before anything is locked. The tenant's people are locked before the agent: whoever signs is
 * not removed meanwhile.
 */
export const create: Create = async ({ body }, context) => {
  const { records, tenant, now, ports, emit, wake, refuse } = context
  const { webauthnAssertion, agentId, name, constraints, expiresAt } = body
  const verified = await verifyAssertion(webauthnAssertion, context)
  if (typeof verified === 'string') return refuse(verified)
  const [, agent] = await Promise.all([lockTenant(context, 'people'), lockAgent(records, agentId)])
  const code = await burnAssertion(verified, { kind: 'mandate', members: statedMandate(body) }, context)
  if (code) return refuse(code)
  if (!agent) return refuse('agent_not_found')
  if (agent.status !== 'active') return refuse('agent_not_active')
  const signer = await findPerson(verified.person.id, context)
  if (signer?.status !== 'active' || !roleScopes[signer.role].has('intents:approve'))
    return refuse('person_may_not')
  const blocker = await blockerOf(body, context)
  if (blocker) return refuse(blocker)
  const id = newId('mandate')
  const members = { agentId, name, expiresAt, personId: signer.id, passkeyId: verified.passkeyId }
  const jws = await ports.signer.sign(MANDATE_TYPE, {
    ...tenant,
    mandateId: id,
    ...members,
    createdAt: now.toISOString(),
    expiresAt: expiresAt.toISOString(),
    constraints: statedConstraints(constraints),
    statement: verified.statement,
    assertion: verified.assertion,
    publicKeyJwk: verified.publicKeyJwk,
  })
  const workflowId = workflowIdOf(mandateProcess, id)
  const mandate = records.create(Mandate, { id, ...members, ...constraints, jws, workflowId })
  emit('mandate.created', mandateEvent(mandate))
  wake(mandateProcess, mandate)
  return mandateResponse(mandate, context)
}

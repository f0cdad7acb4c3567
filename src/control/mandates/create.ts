import {
  consumeAssertion,
  openPasskeyChallenge,
  type VerifiedAssertion,
  verifyAssertion,
} from '../../identity/passkeys/index.ts'
import { findPerson } from '../../identity/people/index.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { roleScopes } from '../../kernel/contract/scopes.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import type { StatedAssistant, StatedConstraints, Subjects } from '../../statements/index.ts'
import { addMs, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, formatDecimal } from '../../values/money.ts'
import { type Agent, findAgent, lockAgent } from '../agents/index.ts'
import type { mandatesApi } from './api.ts'
import type { MandateConstraints } from './constraints.ts'
import { MAX_MANDATE_DAYS, MAX_OPEN_MANDATES, Mandate, OPEN_MANDATE_SQL } from './mandate.ts'
import { mandateProcess } from './process.ts'
import { mandateEvent, unusedMandateResponse } from './response.ts'

type Create = HandlerOf<typeof mandatesApi.create>
type SignedRequest = Parameters<Create>[0]['body']

interface MandateRequest extends Omit<SignedRequest, 'webauthnAssertion'> {
  readonly assistant?: StatedAssistant
}

export const MANDATE_SUBJECT_TYPE = 'mandate'

const textOf = (amount: Cents | null): string | null => (amount === null ? null : formatDecimal(amount))
const stated = (list: readonly string[]): readonly string[] | null => (list.length > 0 ? list : null)

const statedConstraints = (constraints: MandateConstraints): StatedConstraints => ({
  perTransactionEuros: textOf(constraints.perTransactionCents),
  perDayEuros: textOf(constraints.perDayCents),
  perMonthEuros: textOf(constraints.perMonthCents),
  totalEuros: textOf(constraints.totalCents),
  count: constraints.count,
  merchants: stated(constraints.merchants),
  mccs: stated(constraints.mccs),
  countries: stated(constraints.countries),
})

const statedMandate = ({
  agentId,
  constraints,
  expiresAt,
  assistant,
}: MandateRequest): Subjects['mandate'] => ({
  agentId,
  constraints: statedConstraints(constraints),
  expiresAt: expiresAt.toISOString(),
  ...(assistant && { assistant }),
})

function blockerOf({ expiresAt }: MandateRequest, open: number, now: Date) {
  if (expiresAt <= now) return 'expires_too_early'
  if (expiresAt > addMs(now, days(MAX_MANDATE_DAYS))) return 'expires_too_late'
  return open >= MAX_OPEN_MANDATES ? 'too_many_mandates' : undefined
}

const openMandatesOf = (agentId: string, { em }: ReadContext): Promise<number> =>
  em.count(Mandate, { agentId, ...sqlCondition(OPEN_MANDATE_SQL) })

export async function openMandateChallenge(
  body: MandateRequest & { readonly personId: string | null; readonly isNewAgent?: boolean },
  context: ContextOf<typeof mandatesApi.options>,
) {
  const { em, now, refuse } = context
  const { agentId, personId, isNewAgent = false } = body
  const [agent, open, person] = await Promise.all([
    lockAgent(em, agentId),
    openMandatesOf(agentId, context),
    personId ? findPerson(personId, context) : undefined,
  ])
  if (!agent && !isNewAgent) return refuse('agent_not_found')
  if (person === null) return refuse('person_not_found')
  const blocker = blockerOf(body, open, now)
  if (blocker) return refuse(blocker)
  const members = statedMandate(body)
  return openPasskeyChallenge({ kind: 'mandate', subjectId: agentId, members, personId }, context)
}

interface SignedMandate extends MandateRequest, Pick<SignedRequest, 'webauthnAssertion'> {
  /** Creates the agent, which does not exist before the person has signed. */
  readonly createAgent?: (() => Promise<Agent>) | undefined
}

/**
 * Verifies the signature before any row is locked. Locks the tenant's people before the agent, so that the
 * signer is not removed meanwhile.
 */
export async function signMandate(body: SignedMandate, context: ContextOf<typeof mandatesApi.create>) {
  const { em, now, refuse } = context
  const { webauthnAssertion, agentId, createAgent } = body
  const [known, verified] = await Promise.all([
    findAgent(em, agentId),
    verifyAssertion(webauthnAssertion, context),
  ])
  if (!known && !createAgent) return refuse('agent_not_found')
  if (typeof verified === 'string') return refuse(verified)
  const [, existing, signer, open] = await Promise.all([
    lockTenant(context, 'people'),
    lockAgent(em, agentId),
    findPerson(verified.person.id, context),
    openMandatesOf(agentId, context),
  ])
  const code = await consumeAssertion(verified, { kind: 'mandate', members: statedMandate(body) }, context)
  if (code) return refuse(code)
  if (!existing && !createAgent) return refuse('agent_not_found')
  if (existing && existing.status !== 'active') return refuse('agent_not_active')
  if (signer?.status !== 'active' || !roleScopes[signer.role].has('intents:approve'))
    return refuse('insufficient_role')
  const blocker = blockerOf(body, open, now)
  if (blocker) return refuse(blocker)
  if (!existing) await createAgent?.()
  return makeMandate(body, verified, context)
}

type Making = ContextOf<typeof mandatesApi.create>

async function makeMandate(
  { agentId, name, constraints, expiresAt, assistant }: MandateRequest,
  { person, passkeyId, statement, assertion, publicKeyJwk }: VerifiedAssertion,
  { em, tenant, now, systems, emit, wake }: Making,
) {
  const id = newId('mandate')
  const members = { agentId, name, expiresAt, personId: person.id, passkeyId }
  const jws = systems.signer.sign(MANDATE_SUBJECT_TYPE, {
    ...tenant,
    mandateId: id,
    ...members,
    createdAt: now.toISOString(),
    expiresAt: expiresAt.toISOString(),
    constraints: statedConstraints(constraints),
    statement,
    assertion,
    publicKeyJwk,
  })
  const workflowId = workflowIdOf(mandateProcess, id)
  const forAssistant = assistant !== undefined
  const mandate = em.create(Mandate, { id, ...members, ...constraints, forAssistant, jws, workflowId })
  emit('mandate.created', mandateEvent(mandate))
  wake(mandateProcess, mandate)
  return unusedMandateResponse(mandate, { now })
}

import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { findPolicy } from '../policies/index.ts'
import { decideIsolated, rulesOf } from '../rules/index.ts'
import { causeOf } from './intent.ts'
import { openPayees, type Payee } from './payees.ts'
import type { simulationApi } from './simulation-api.ts'
import { blockerOf, decideIntent, levelIdsOf, readSpendContext, spenderFor } from './spend-context.ts'

type Simulate = HandlerOf<typeof simulationApi.simulate>
type SimulateContext = ContextOf<typeof simulationApi.simulate>
type Body = Parameters<Simulate>[0]['body']

/** Simulates the declaration of an intent of an agent, at an instant. */
async function simulateForAgent(agentId: string, payee: Payee, body: Body, context: SimulateContext) {
  const { sql, tenant, actor, refuse } = context
  const { at, amountEuros, mcc } = body
  const tenantNow = { tenant, now: at ?? context.now }
  const spend = { agentId, amountEuros, mcc, ...payee, ...levelIdsOf(actor, context.runId, body) }
  const spendContext = await readSpendContext(sql, tenantNow, [spend])
  const agent = spenderFor(actor, agentId, spendContext)
  if (!agent) return refuse('agent_not_found')
  // A simulation for a frozen agent always answers that it is frozen: here that is a decision, no refusal.
  const blocker = agent.status === 'active' && blockerOf(spend, spendContext, tenantNow.now, context.runId)
  if (blocker) return refuse(blocker)
  const { decision } = decideIntent(spend, agent, spendContext, tenantNow, causeOf({ id: '' }))
  return { ...decision, id: null }
}

/** Simulates what rules decide by themselves, for somebody who has spent nothing. */
async function simulateRules(payee: Payee, body: Body, { records, now, refuse }: SimulateContext) {
  const { policyId, policy: givenRules, at, amountEuros, mcc } = body
  const policy = policyId ? await findPolicy(records, policyId) : null
  if (policyId && !policy) return refuse('policy_not_found')
  const rules = policy ? rulesOf(policy) : (givenRules ?? null)
  const {
    holdEuros: _,
    mandate = null,
    ...ruling
  } = decideIsolated(rules, { amountEuros, mcc, ...payee, at: at ?? now })
  return {
    ...ruling,
    mandate,
    id: null,
    riskScore: null,
    policyId: policy?.id ?? null,
    policyVersion: policy?.version ?? null,
  }
}

/** Decides by the same function as a declaration, but stores and reserves nothing. */
export const simulate: Simulate = async ({ body }, context) => {
  const { sql, tenant, actor, refuse, ports } = context
  const payees = await openPayees(sql, tenant, [body], ports)
  const refusal = payees.refusalOf(body, body.amountEuros)
  if (refusal) return refuse(...refusal)
  const contradiction = payees.contradiction(body)
  if (contradiction) return refuse('payee_mismatch', contradiction)
  const payee = payees.resolve(body)
  if (body.policyId || body.policy) return simulateRules(payee, body, context)
  const agentId = body.agentId ?? actor.agentId
  return agentId ? simulateForAgent(agentId, payee, body, context) : refuse('agent_required')
}

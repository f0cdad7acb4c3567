import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { findPolicy } from '../policies/index.ts'
import { decideIsolated, rulesOf } from '../rules/index.ts'
import { heldFor } from './intent.ts'
import { openPayees, type Payee } from './payees.ts'
import type { simulationApi } from './simulation-api.ts'
import { askerOf, decideOn, obstacleTo, underOf, viewScene } from './spend-context.ts'

type Simulate = HandlerOf<typeof simulationApi.simulate>
type Simulating = ContextOf<typeof simulationApi.simulate>
type Body = Parameters<Simulate>[0]['body']

/** What declaring would decide, at an instant. */
async function ofAgent(agentId: string, payee: Payee, body: Body, context: Simulating) {
  const { sql, tenant, actor, refuse } = context
  const { at, runId, amountEuros, mcc } = body
  const opening = { tenant, now: at ?? context.now }
  const ask = { agentId, amountEuros, mcc, ...payee, ...underOf(actor, context.runId, runId) }
  const scene = await viewScene(sql, opening, [ask])
  const agent = askerOf(actor, agentId, scene)
  if (!agent) return refuse('agent_not_found')
  // Who is frozen is told so, wherever it asks: that is a decision here.
  const obstacle = agent.status === 'active' && obstacleTo(ask, scene, opening.now, context.runId)
  if (obstacle) return refuse(obstacle)
  const { decision } = decideOn(ask, agent, scene, opening, heldFor({ id: '' }))
  return { ...decision, id: null }
}

/** What rules by themselves would decide. */
async function ofRules(payee: Payee, body: Body, { em, now, refuse }: Simulating) {
  const { policyId, policy, at, amountEuros, mcc } = body
  const found = policyId ? await findPolicy(em, policyId) : null
  if (policyId && !found) return refuse('policy_not_found')
  const rules = found ? rulesOf(found) : (policy ?? null)
  const { holdEuros: _, ...shown } = decideIsolated(rules, { amountEuros, mcc, ...payee, at: at ?? now })
  return {
    ...{ id: null, ...shown, riskScore: null },
    ...{ policyId: found?.id ?? null, policyVersion: found?.version ?? null },
  }
}

/** The same function that decides about an intent, asked by somebody who stores and reserves nothing. */
export const simulate: Simulate = async ({ body }, context) => {
  const { sql, tenant, actor, refuse } = context
  const payees = await openPayees(sql, tenant, [body])
  const nobody = payees.missing(body)
  if (nobody) return refuse(nobody)
  const contradiction = payees.contradiction(body)
  if (contradiction) return refuse('payee_mismatch', contradiction)
  if (body.policyId || body.policy) return ofRules(payees.of(body), body, context)
  const agentId = body.agentId ?? actor.agentId
  return agentId ? ofAgent(agentId, payees.of(body), body, context) : refuse('agent_required')
}

import {
  type AskingPolicy,
  findPolicyAskingAlone,
  findPolicyAskingMore,
  type StepRefusal,
  stepsProblem,
} from '../../identity/approvals/index.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { question } from '../../kernel/contract/question.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import { type ApprovalStep, approvalStepInWords } from '../../values/approval-steps.ts'
import type { Agent } from './agent.ts'

type Change = Pick<StatedWidening, 'field' | 'from' | 'to'>

/** Changes by which more may be spent with this agent, as a person in the console signs them. */
export const wideningsOfAgent = (
  { id, name }: Pick<Agent, 'id' | 'name'>,
  changes: readonly Change[],
): StatedWidening[] => changes.map(change => ({ of: 'agent', id, name, ...change }))

export const unfreezing = { field: 'Status', from: 'frozen', to: 'active' } as const

interface Template {
  readonly name: string
  readonly version: number
  readonly approval: readonly ApprovalStep[]
  readonly rules: Readonly<Record<string, unknown>>
}

/** A template of policies as it is stored, locked, so that the agent gets the rules that were signed. */
export const templates = question<string, Template | undefined>('agents.templates')

/** As the contracts of operations that create an agent declare it. */
export const newAgentRefusals = {
  approval_needed: [
    400,
    'policyId: a policy in force asks people whom the policy of the new agent would not ask. Name a template whose steps ask them.',
  ],
} as const satisfies Record<string, RefusalSpec>

type NewAgentRefusal = readonly [code: StepRefusal[0] | keyof typeof newAgentRefusals, message: string]

/**
 * Why a new agent cannot begin with this template, or without one: the steps ask who cannot approve, or fewer than the account's
 * policies ask. Money moves freely to its wallet, so it would be paid out without those people.
 */
export async function newAgentProblem(
  policyId: string | null,
  context: ReadContext,
): Promise<NewAgentRefusal | undefined> {
  const [template] = policyId ? await context.service.ask(templates, policyId, context) : []
  const steps = template?.approval ?? []
  const problem = await stepsProblem(steps, context)
  if (problem) return problem
  const policy = await findPolicyAskingMore(steps, context)
  return policy && ['approval_needed', asksMore(policy)]
}

/** Why the agent cannot be deleted yet; undefined: it can. Of two deletions, the later one sees that it would be the last. */
export async function deletionProblem(agentId: string, context: ReadContext): Promise<string | undefined> {
  const [, policy] = await Promise.all([
    lockTenant(context, 'agents'),
    findPolicyAskingAlone(agentId, context),
  ])
  return policy && asksAlone(policy)
}

const asksAlone = ({ id, name }: AskingPolicy): string =>
  `The agent’s policy ${quoted(name)} (${id}) asks people for payments from every wallet, and no other policy does. Remove its steps first (PUT /policies/${id}), which these people approve.`

const asksMore = ({ id, name, steps }: AskingPolicy): string =>
  `policyId: the policy ${quoted(name)} (${id}) asks people (${steps.map(approvalStepInWords).join(', ')}), and money moves freely to the new agent. Name a template whose steps ask no fewer people (POST /policies). They may approve looser rules for the agent afterwards.`

/** A template by its amounts, since it may have changed since the person saw it; a preset by its name. */
export async function wideningOfNewAgent(
  { name, policyId }: { readonly name: string; readonly policyId: string },
  context: ReadContext,
): Promise<StatedWidening> {
  const [template] = await context.service.ask(templates, policyId, context)
  const amounts = Object.entries(template?.rules ?? {}).flatMap(([rule, value]) =>
    rule.endsWith('Euros') && value !== null ? [`${rule} ${value}`] : [],
  )
  const to = template
    ? [`${quoted(template.name)} (${policyId}), version ${template.version}`, ...amounts].join(', ')
    : quoted(policyId)
  return {
    of: 'account',
    id: context.tenant.ownerId,
    name: null,
    field: `Policy of the new agent ${quoted(name)}`,
    from: 'none',
    to,
  }
}

import { type StepRefusal, stepsProblem } from '../../identity/approvals/index.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { question } from '../../kernel/contract/question.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
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

/** Why a new agent cannot be given the template: its steps ask who cannot approve; undefined if none does. */
export async function templateProblem(
  policyId: string,
  context: ReadContext,
): Promise<StepRefusal | undefined> {
  const [template] = await context.service.ask(templates, policyId, context)
  return template && stepsProblem(template.approval, context)
}

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

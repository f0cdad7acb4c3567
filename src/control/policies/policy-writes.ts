import { isDeepStrictEqual } from 'node:util'
import {
  type bySeveral,
  holdChange,
  policiesToAsk,
  type StepRefusal,
  stepsProblem,
} from '../../identity/approvals/index.ts'
import {
  refuseUnsignedWidening,
  type WebauthnAssertion,
  type widening,
} from '../../identity/passkeys/index.ts'
import type { Context, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import { Accepted, Refusal } from '../../kernel/contract/problem.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { lockAgent } from '../agents/index.ts'
import { decodePolicyRules, type PolicyRules, pickPolicyRules } from '../rules/index.ts'
import type { policiesApi } from './api.ts'
import { Policy, type policyToggles } from './policy.ts'
import {
  assignPolicy,
  effectivePolicy,
  findPolicySource,
  lockPolicy,
  policyEvent,
  policyNotDeleted,
  recordPolicyVersion,
} from './policy-versioning.ts'
import { wideningsOfAssignment, wideningsOfPolicies } from './widening.ts'

type Writing = WriteContext<
  Pick<
    (typeof policiesApi)['apply']['emits'] & (typeof policiesApi)['assign']['emits'],
    'policy.updated' | 'policy.applied' | 'policy.assigned'
  >
>

/** The write of a policy that several people approve, as it was asked for. Rules are as the contract writes them. */
export type PolicyWrite =
  | {
      readonly operation: 'policies.replace'
      readonly policyId: string
      readonly rules: Readonly<Record<string, unknown>>
    }
  | { readonly operation: 'policies.apply'; readonly policyId: string }
  | { readonly operation: 'policies.assign'; readonly agentId: string; readonly sourceId: string }
  | {
      readonly operation: 'policies.toggle'
      readonly agentId: string
      readonly field: (typeof policyToggles)[number]
      readonly value: boolean
    }

/** Says, under the locks, what the change of these policies still waits for; undefined: it is made. */
export type Hold = (
  policies: readonly Policy[],
  compare: () => readonly StatedWidening[] | Promise<readonly StatedWidening[]>,
) => Promise<Refusal | Accepted | undefined>

type Holding = Context<
  keyof typeof widening.fails | keyof typeof bySeveral.fails,
  typeof widening.emits & typeof bySeveral.emits
>

/**
 * What a change of these policies waits for. Where they ask several people, the change itself needs as many of them as all
 * steps. Otherwise the person in the console signs it.
 */
export const holdPolicyWrite =
  (write: PolicyWrite, envelope: WebauthnAssertion | undefined, context: Holding): Hold =>
  async (policies, compare) => {
    const asking = policiesToAsk(policies.map(({ approval }) => approval))
    if (asking.length === 0) return refuseUnsignedWidening(envelope, compare, context)
    const changes = await compare()
    if (changes.length === 0) return undefined
    const unsigned = await refuseUnsignedWidening(envelope, () => changes, context)
    if (unsigned) return unsigned
    const { actor } = context
    const signerId = actor.type === 'console' ? actor.id : null
    const [first] = policies
    const { policyId, agentId } = { policyId: first?.id, agentId: first?.agentId, ...write }
    return holdChange({ write, changes, policyId, agentId }, { policies: asking, signerId }, context)
  }

type Refused<C extends string> = readonly [code: C, message?: string]

export const isRefused = <T>(done: T): done is Extract<T, readonly unknown[]> => Array.isArray(done)

/**
 * A policy asks people of the account, and no more than there are. Steps that all of these policies have already are not looked at:
 * who has left must not keep a limit from being changed.
 */
export async function refuseSteps(
  { approval }: Pick<PolicyRules, 'approval'>,
  policies: readonly Pick<PolicyRules, 'approval'>[],
  context: SqlContext,
): Promise<StepRefusal | undefined> {
  const areNew = ({ approval: before }: Pick<PolicyRules, 'approval'>) => !isDeepStrictEqual(before, approval)
  return policies.length === 0 || policies.some(areNew) ? stepsProblem(approval, context) : undefined
}

interface Replacement {
  readonly policyId: string
  readonly rules: PolicyRules
  readonly version?: number | undefined
}

export async function replaceRules(
  { policyId, rules, version }: Replacement,
  hold: Hold,
  context: Writing,
): Promise<Policy | Refusal | Accepted | StepRefusal | Refused<'policy_not_found' | 'version_conflict'>> {
  const { em, now, emit } = context
  const policy = await lockPolicy(em, policyId)
  if (!policy) return ['policy_not_found']
  if (version !== undefined && version !== policy.version) return ['version_conflict']
  const problem = await refuseSteps(rules, [policy], context)
  if (problem) return problem
  const held = await hold([policy], () => wideningsOfPolicies([[policy, rules]], context))
  if (held) return held
  policy.changeRules(rules, now)
  recordPolicyVersion(policy, context)
  emit('policy.updated', policyEvent(policy))
  return policy
}

interface AppliedTemplate {
  readonly template: Policy
  readonly copies: readonly Policy[]
}

export async function applyTemplate(
  policyId: string,
  hold: Hold,
  context: Writing,
): Promise<
  AppliedTemplate | Refusal | Accepted | StepRefusal | Refused<'policy_not_found' | 'not_a_template'>
> {
  const { em, now, emit } = context
  const templateAndCopies = { $or: [{ id: policyId }, { templateId: policyId }], ...policyNotDeleted }
  const locked = await em.find(Policy, templateAndCopies, FOR_UPDATE_BY_ID)
  const template = locked.find(({ id }) => id === policyId)
  if (!template) return ['policy_not_found']
  if (template.agentId) return ['not_a_template']
  const copies = locked.filter(copy => copy !== template)
  const problem = await refuseSteps(template, copies, context)
  if (problem) return problem
  const source = { id: template.id, rules: pickPolicyRules(template) }
  const held = await hold(copies, () =>
    wideningsOfPolicies(
      copies.map(copy => [copy, copy.rulesAsCopyOf(source)]),
      context,
    ),
  )
  if (held) return held
  for (const copy of copies) {
    copy.copyFrom(source, copy.assignedAt ?? now, now)
    recordPolicyVersion(copy, context)
    emit('policy.updated', policyEvent(copy))
  }
  emit('policy.applied', policyEvent(template))
  return { template, copies }
}

interface Assignment {
  readonly agentId: string
  readonly sourceId: string
}

export async function assignToAgent(
  { agentId, sourceId }: Assignment,
  hold: Hold,
  context: Writing,
): Promise<
  | Policy
  | Refusal
  | Accepted
  | StepRefusal
  | Refused<'agent_not_found' | 'policy_not_found' | 'not_a_template'>
> {
  const { em, emit } = context
  const agent = await lockAgent(em, agentId)
  if (!agent) return ['agent_not_found']
  const source = await findPolicySource(em, sourceId)
  if (typeof source === 'string') return [source]
  const current = await effectivePolicy(em, agent.id)
  const problem = await refuseSteps(source.rules, current ? [current] : [], context)
  if (problem) return problem
  const held = await hold(current ? [current] : [], () =>
    wideningsOfAssignment(agent, current, { source, context }),
  )
  if (held) return held
  const policy = await assignPolicy(agent, source, context)
  emit('policy.assigned', policyEvent(policy))
  return policy
}

type Toggling = Omit<Extract<PolicyWrite, { readonly operation: 'policies.toggle' }>, 'operation'>

export async function toggleRule(
  { agentId, field, value }: Toggling,
  hold: Hold,
  context: Writing,
): Promise<Policy | Refusal | Accepted | Refused<'agent_not_found' | 'no_policy_assigned'>> {
  const { em, now, emit } = context
  const agent = await lockAgent(em, agentId)
  if (!agent) return ['agent_not_found']
  const policy = agent.policyId && (await lockPolicy(em, agent.policyId))
  if (!policy) return ['no_policy_assigned']
  const rules = { ...pickPolicyRules(policy), [field]: value }
  const held = await hold([policy], () => wideningsOfPolicies([[policy, rules]], context))
  if (held) return held
  policy.toggle(field, value, now)
  recordPolicyVersion(policy, context)
  emit('policy.updated', policyEvent(policy))
  return policy
}

/** A write as it was kept: what was asked for, with the present records. Undefined: it is made. */
export async function carryOutPolicyWrite(
  write: PolicyWrite,
  hold: Hold,
  context: Writing,
): Promise<Refusal | Accepted | Refused<string> | undefined> {
  const done = await written(write, hold, context)
  return done instanceof Refusal || done instanceof Accepted || isRefused(done) ? done : undefined
}

function written(write: PolicyWrite, hold: Hold, context: Writing) {
  switch (write.operation) {
    case 'policies.replace':
      return replaceRules({ ...write, rules: decodePolicyRules(write.rules) }, hold, context)
    case 'policies.apply':
      return applyTemplate(write.policyId, hold, context)
    case 'policies.assign':
      return assignToAgent(write, hold, context)
    case 'policies.toggle':
      return toggleRule(write, hold, context)
  }
}

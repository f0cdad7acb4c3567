import { stepsInForce, withoutRemoved } from '../../identity/approvals/index.ts'
import { Person } from '../../identity/customers/index.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
import { Agent, templates, wideningsOfAgent } from '../agents/index.ts'
import { noPolicyRules, type PolicyRules, pickPolicyRules, policyWidenings } from '../rules/index.ts'
import type { Policy, PolicySource } from './policy.ts'

type Reading = SqlContext & { readonly em: EntityManager }

/** Who has been removed can approve nothing, so a step without them asks the same people. */
async function wideningsWithoutRemoved(policies: readonly Pick<PolicyRules, 'approval'>[], context: Reading) {
  const without = await withoutRemoved(
    policies.map(({ approval }) => approval),
    context,
  )
  const present = (rules: PolicyRules): PolicyRules => ({
    ...pickPolicyRules(rules),
    approval: without(rules.approval),
  })
  return (before: PolicyRules, after: PolicyRules) => policyWidenings(present(before), present(after))
}

/** A template is signed as well, since a key may apply or assign it later. */
export async function wideningsOfPolicies(
  changed: readonly (readonly [policy: Policy, rules: PolicyRules])[],
  context: Reading,
): Promise<StatedWidening[]> {
  const { em } = context
  const widen = await wideningsWithoutRemoved(changed.flat(), context)
  const widened = changed.flatMap(([policy, rules]) => {
    const changes = widen(policy, rules)
    return changes.length > 0 ? [{ policy, changes }] : []
  })
  const ids = widened.flatMap(({ policy }) => policy.agentId ?? [])
  const agents = await em.find(Agent, { id: { $in: ids } })
  const byId = new Map(agents.map(agent => [agent.id, agent]))
  const stated = widened.flatMap(({ policy: { id, name, agentId }, changes }): StatedWidening[] => {
    if (agentId === null) return changes.map(change => ({ of: 'template' as const, id, name, ...change }))
    const agent = byId.get(agentId)
    return agent ? wideningsOfAgent(agent, changes) : []
  })
  return withNamesOfPeople(stated, em)
}

const PERSON_ID = /person_[0-9a-z]{26}/g

/** No one knows a person by their id: it follows the name. */
async function withNamesOfPeople(
  changes: readonly StatedWidening[],
  em: EntityManager,
): Promise<StatedWidening[]> {
  const ids = changes.flatMap(({ from, to }) => `${from} ${to}`.match(PERSON_ID) ?? [])
  const people = ids.length > 0 ? await em.find(Person, { id: { $in: ids } }) : []
  const names = new Map(people.map(({ id, name }) => [id, `${quoted(name)} ${id}`]))
  const named = (words: string) => words.replace(PERSON_ID, id => names.get(id) ?? id)
  return changes.map(change => ({ ...change, from: named(change.from), to: named(change.to) }))
}

/** Assigned anew, a policy begins to count payments and minutes from nothing. */
const restart = ({ assignedAt, expiresAfterMinutes, maxUsageCount }: Policy) =>
  assignedAt && (expiresAfterMinutes !== null || maxUsageCount !== null)
    ? [{ field: 'Beginning of the policy', from: assignedAt.toISOString(), to: 'now' }]
    : []

export async function wideningsOfAssignment(
  agent: Agent,
  current: Policy | null,
  { source, context }: { readonly source: PolicySource; readonly context: Reading },
): Promise<StatedWidening[]> {
  const widen = await wideningsWithoutRemoved([current ?? noPolicyRules, source.rules], context)
  const changes = current
    ? [...widen(current, current.rulesAsCopyOf(source)), ...restart(current)]
    : widen(noPolicyRules, source.rules)
  return withNamesOfPeople(wideningsOfAgent(agent, changes), context.em)
}

interface StoredTemplate extends Row {
  readonly name: string
  readonly version: number
  readonly approval: readonly ApprovalStep[]
  readonly rules: Readonly<Record<string, unknown>>
}

const TEMPLATE = `
select p.name, p.version, p.approval, v.rules from policies p
join policy_versions v on (v.owner_id, v.mode, v.policy_id, v.version) = (p.owner_id, p.mode, p.id, p.version)
where p.owner_id = $1 and p.mode = $2 and p.id = $3 and p.deleted_at is null
for no key update of p`

export const templateOfNewAgent = answerTo(
  templates,
  async (policyId, { sql, tenant: { ownerId, mode } }) => {
    const [template] = await sql<StoredTemplate>(TEMPLATE, [ownerId, mode, policyId])
    return template
  },
)

const STEPS = `
select min(id) as id, min(name) as name, approval as steps, bool_or(agent_id is distinct from $3) as "isOfOthers"
from policies where (owner_id, mode) = ($1, $2) and agent_id is not null and deleted_at is null and approval <> '[]'
group by approval`

interface AskingPolicy extends Row {
  readonly id: string
  readonly name: string
  readonly steps: readonly ApprovalStep[]
  readonly isOfOthers: boolean
}

export const stepsOfPolicies = answerTo(stepsInForce, ({ agentId }, { sql, tenant: { ownerId, mode } }) =>
  sql<AskingPolicy>(STEPS, [ownerId, mode, agentId]),
)

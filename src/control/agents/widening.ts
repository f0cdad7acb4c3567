import type { SqlContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import type { Agent } from './agent.ts'

type Change = Pick<StatedWidening, 'field' | 'from' | 'to'>

/** Changes by which more may be spent with this agent, as a person in the console signs them. */
export const wideningsOfAgent = (
  { id, name }: Pick<Agent, 'id' | 'name'>,
  changes: readonly Change[],
): StatedWidening[] => changes.map(change => ({ of: 'agent', id, name, ...change }))

export const unfreezing = { field: 'Status', from: 'frozen', to: 'active' } as const

interface Template extends Row {
  readonly name: string
  readonly version: number
  readonly rules: Readonly<Record<string, unknown>>
}

/**
 * The areas of policies and rules come after this one, so their table is read as it is stored. Locked, so that
 * the agent gets the rules that were signed.
 */
const TEMPLATE = `
select p.name, p.version, v.rules from policies p
join policy_versions v on (v.owner_id, v.mode, v.policy_id, v.version) = (p.owner_id, p.mode, p.id, p.version)
where p.owner_id = $1 and p.mode = $2 and p.id = $3 and p.deleted_at is null
for no key update of p`

/** A template by its amounts, since it may have changed since the person saw it; a preset by its name. */
export async function wideningOfNewAgent(
  { name, policyId }: { readonly name: string; readonly policyId: string },
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<StatedWidening> {
  const [template] = await sql<Template>(TEMPLATE, [ownerId, mode, policyId])
  const amounts = Object.entries(template?.rules ?? {}).flatMap(([rule, value]) =>
    rule.endsWith('Euros') && value !== null ? [`${rule} ${value}`] : [],
  )
  const to = template
    ? [`${quoted(template.name)} (${policyId}), version ${template.version}`, ...amounts].join(', ')
    : quoted(policyId)
  return {
    of: 'account',
    id: ownerId,
    name: null,
    field: `Policy of the new agent ${quoted(name)}`,
    from: 'none',
    to,
  }
}

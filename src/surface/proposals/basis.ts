import { hash } from 'node:crypto'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Plan } from '../../kernel/contract/tool.ts'
import { canonicalJson } from '../../values/canonical-json.ts'

/** What an agent may spend by: what is proposed for the agent is read by who applies it with this in mind. */
const EFFECTIVE_POLICY = 'policies.effective'

/** The members by which a record says that it has changed; balances and counters move all the time. */
const MARKS = ['id', 'version', 'status', 'updatedAt'] as const

interface Looking {
  readonly tools: Pick<Ports['tools'], 'look'>
  readonly tenant: Tenant
  readonly requestId: string
}

/** A digest of what a proposal is made of: the record that it is about, and the policy of its agent. */
export async function basisOf(
  { record, agentId }: Pick<Plan, 'record' | 'agentId'>,
  { tools, tenant, requestId }: Looking,
): Promise<string | null> {
  const [changed, policy] = await Promise.all([
    record && tools.look(tenant, record.operation, record.given, requestId),
    agentId === null ? null : tools.look(tenant, EFFECTIVE_POLICY, { agentId }, requestId),
  ])
  if (record === null && agentId === null) return null
  return hash('sha256', canonicalJson([marksOf(changed), marksOf(policy)]), 'base64url')
}

function marksOf(record: unknown): unknown {
  if (typeof record !== 'object' || record === null) return null
  const members = record as Readonly<Record<string, unknown>>
  return MARKS.map(name => members[name] ?? null)
}

import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
  withMembers,
} from '../../kernel/database/entity.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { days } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import type { PersonalData } from '../../values/personal.ts'
import { type ApprovalProgress, approvalProgressResponse } from '../approvals/index.ts'
import type { ApprovalStep } from '../rules/index.ts'
import type { Policy, policyToggles } from './policy.ts'

export const policyChangeMachine = stateMachine('policy-change', {
  waiting: ['applied', 'rejected', 'outdated'],
  applied: [],
  rejected: [],
  outdated: [],
})

/** How long people have to approve it. */
export const POLICY_CHANGE_TTL_MS = days(3)

/** Bounds what people read. */
export const MAX_WAITING_CHANGES = 20

/** The write of a policy that waits, as it was asked for. Rules are as the contract writes them. */
export type PolicyWrite =
  | { readonly kind: 'replace'; readonly policyId: string; readonly rules: Readonly<Record<string, unknown>> }
  | { readonly kind: 'apply'; readonly policyId: string }
  | { readonly kind: 'assign'; readonly agentId: string; readonly sourceId: string }
  | {
      readonly kind: 'toggle'
      readonly agentId: string
      readonly field: (typeof policyToggles)[number]
      readonly value: boolean
    }

interface Proposer {
  readonly type: string
  readonly id: string | null
  readonly name: string | null
}

const schema = defineEntity({
  ...tenantTable('PolicyChange', 'policy_changes', 'agentId'),
  properties: {
    ...recordColumns('policychange'),
    status: p.enum(policyChangeMachine.states).onCreate(() => policyChangeMachine.initial),
    policyId: nullable.string(),
    agentId: nullable.string(),
    write: p.json<PolicyWrite>(),
    changes: p.json<readonly StatedWidening[]>(),
    approval: p.json<ApprovalProgress>(),
    proposedBy: p.json<Proposer>(),
    reason: nullable.string(),
    expiresAt: timestampColumn(),
  },
})

/** A change that lets more be spent under a policy that asks several people. As many of them sign it as its highest step needs. */
export class PolicyChange extends schema.class {}
schema.setClass(PolicyChange)

/** A change has no amount: its one step is always asked. */
export const CHANGE_AMOUNT = cents(1n)

/** The people who decide about these policies: those of the highest step, of the policy that needs most of them. */
export function stepOfChanges(policies: readonly Pick<Policy, 'approval'>[]): ApprovalStep | undefined {
  const highest = policies.flatMap(({ approval }) => approval.at(-1) ?? [])
  const [most] = highest.toSorted((one, other) => other.need - one.need)
  return most && { ...most, aboveCents: '0', withinMinutes: POLICY_CHANGE_TTL_MS / 60_000, then: 'deny' }
}

export const isWaitingChange = ({ status, expiresAt }: PolicyChange, now: Date): boolean =>
  status === 'waiting' && expiresAt > now

export const policyChangeResponse = (change: PolicyChange, now: Date) =>
  withMembers(change, {
    operation: `policies.${change.write.kind}` as const,
    status: change.status === 'waiting' && change.expiresAt <= now ? ('expired' as const) : change.status,
    changes: [...change.changes],
    approval: approvalProgressResponse(change.approval, {
      amountCents: CHANGE_AMOUNT,
      isOpen: isWaitingChange(change, now),
    }),
  })

export const policyChangeEvent = ({ id, policyId, agentId, write, status, approval }: PolicyChange) => ({
  changeId: id,
  policyId,
  agentId,
  operation: `policies.${write.kind}` as const,
  status,
  given: approval.given.length,
  needed: approval.steps.reduce((sum, { need }) => sum + need, 0),
})

export const policyChangesPersonalData = {
  policy_changes: {
    personal: {
      write: { kind: 'payment', ground: 'contract', forget: 'empty' },
      changes: { kind: 'payment', ground: 'contract', forget: { value: '[]' } },
      proposed_by: { kind: 'name', ground: 'contract', forget: { members: '{"id":null,"name":null}' } },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['policy_id', 'approval'],
    about: { person: ["proposed_by ->> 'id'"] },
  },
} as const satisfies PersonalData

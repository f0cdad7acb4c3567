import { hash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import type { ToolCallPlan } from '../../kernel/contract/tool.ts'
import {
  booleanColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { minutes } from '../../values/clock.ts'
import { ID_AND_NAME } from '../../values/personal.ts'

export const proposalMachine = stateMachine('proposal', {
  open: ['applying', 'dismissed', 'expired'],
  applying: ['open', 'applied', 'outdated', 'failed'],
  applied: [],
  dismissed: [],
  expired: [],
  outdated: [],
  failed: [],
})

/** Repeats the condition of the partial index of deadlines exactly, so that PostgreSQL uses it. */
export const OPEN_PROPOSAL_SQL = "status in ('open', 'applying')"

export const PROPOSAL_TTL_MS = minutes(15)

/** An attempt holds the proposal for this long. Then the sweep takes it over. */
export const APPLY_LEASE_MS = minutes(1)

/** Bounds the open proposals of one proposer, since a person reads each of them. */
export const MAX_OPEN_PROPOSALS = 20

/**
 * An attempt is repeated for this long. It is far shorter than the life of idempotency keys, since an
 * operation under an expired key could run twice; and it must not run hours after the person's decision.
 */
export const APPLY_RETRY_WINDOW_MS = minutes(30)

export const MAX_APPLY_ATTEMPTS = 5

export const MAX_PROPOSAL_INPUT_LENGTH = 16_384

export type ProposedMembers = Readonly<Record<string, unknown>>

export interface ProposedDifference {
  readonly member: string
  readonly from: string | null
  readonly to: string | null
}

export interface ProposalEffect {
  readonly source: 'simulation' | 'backtest'
  readonly sentence: string
}

interface Decider {
  readonly type: string
  readonly id: string | null
  readonly name: string | null
}

/** The person who applies, as plain JSON, which survives a crash. */
export interface ProposalApplier extends Decider {
  readonly type: 'key' | 'console'
  /** The person with whose rights the key calls, and who made it. Missing in attempts of earlier versions. */
  readonly personId?: string | null
  readonly madeByPersonId?: string | null
  readonly scopes: readonly string[]
  readonly sessionId: string | null
  readonly address: string | null
}

/** Under this key the operation runs once. */
export interface ApplyAttempt {
  readonly applier: ProposalApplier
  readonly webauthnAssertion: unknown
  readonly key: string
  /** Uses the real clock, as the expiry of keys does. In ISO 8601. */
  readonly begunAt: string
}

const schema = defineEntity({
  ...tenantTable('Proposal', 'proposals', 'agentId'),
  ...personalTable({
    about: {
      person: ["decided_by ->> 'id'", "proposed_by ->> 'id'", 'record_id', 'result_id'],
      beneficiary: ['record_id', 'result_id', "(t.input ->> 'beneficiaryId')"],
      payer: ['record_id', 'result_id'],
    },
  }),
  properties: {
    ...recordColumns('proposal'),
    agentId: nullable.string(),
    operation: plain(p.text()),
    input: personal(p.json<ProposedMembers>(), 'words', 'contract', 'empty'),
    hash: plain(p.text()),
    summary: personal(p.text(), 'words', 'contract', 'word'),
    reason: personal(nullable.string(), 'words', 'contract', 'word'),
    changes: personal(p.json<readonly ProposedDifference[]>(), 'words', 'contract', 'empty'),
    effect: personal(nullable.json<ProposalEffect>(), 'payment', 'contract', 'null'),
    recordId: plain(nullable.string()),
    basis: plain(nullable.string()),
    takesPasskey: booleanColumn(),
    proposedBy: personal(p.json<Decider>(), 'name', 'contract', ID_AND_NAME),
    proposerId: plain(p.text()),
    status: p.enum(proposalMachine.states).onCreate(() => proposalMachine.initial),
    expiresAt: timestampColumn(),
    dueAt: nullable.instant(),
    tries: p.integer().onCreate(() => 0),
    attempt: personal(nullable.json<ApplyAttempt>(), 'device', 'security', 'null'),
    refusal: personal(
      nullable.json<{ readonly code: string; readonly message: string }>(),
      'words',
      'contract',
      'null',
    ),
    resultId: plain(nullable.string()),
    decidedBy: personal(nullable.json<Decider>(), 'name', 'contract', ID_AND_NAME),
    decidedAt: nullable.instant(),
  },
})

export class Proposal extends schema.class {}
schema.setClass(Proposal)

export interface NewProposal {
  readonly agentId: string | null
  readonly operation: string
  readonly input: ProposedMembers
  readonly hash: string
  readonly summary: string
  readonly reason: string | null
  readonly changes: readonly ProposedDifference[]
  readonly effect: ProposalEffect | null
  readonly recordId: string | null
  readonly basis: string | null
  readonly takesPasskey: boolean
  readonly proposedBy: Decider
  readonly proposerId: string
}

/** Part of the basis of proposals for an agent, since people decide with the agent's policy in mind. */
const EFFECTIVE_POLICY = 'policies.effective'

/** These members show a change of a record. Balances and counters change all the time. */
const FINGERPRINT_MEMBERS = ['id', 'version', 'status', 'updatedAt'] as const

interface Looking {
  readonly tools: Pick<RunningService['tools'], 'readRecord'>
  readonly tenant: Tenant
  readonly requestId: string
}

export async function computeProposalBasis(
  { record, agentId }: Pick<ToolCallPlan, 'record' | 'agentId'>,
  { tools, tenant, requestId }: Looking,
): Promise<string | null> {
  const [changed, policy] = await Promise.all([
    record && tools.readRecord(tenant, record.operation, record.given, requestId),
    agentId === null ? null : tools.readRecord(tenant, EFFECTIVE_POLICY, { agentId }, requestId),
  ])
  if (record === null && agentId === null) return null
  return hash('sha256', canonicalJson([fingerprintOf(changed), fingerprintOf(policy)]), 'base64url')
}

function fingerprintOf(record: unknown): unknown {
  if (typeof record !== 'object' || record === null) return null
  const members = record as Readonly<Record<string, unknown>>
  return FINGERPRINT_MEMBERS.map(name => members[name] ?? null)
}

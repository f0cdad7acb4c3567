import { hash } from 'node:crypto'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { ToolCallPlan } from '../../kernel/contract/tool.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { clock, days } from '../../values/clock.ts'
import { containsCardNumber } from '../../values/mask-card-numbers.ts'
import { truncateText } from '../../values/schemas.ts'
import {
  computeProposalBasis,
  MAX_PROPOSAL_INPUT_LENGTH,
  type NewProposal,
  type ProposalEffect,
  type ProposedDifference,
  type ProposedMembers,
} from './proposal.ts'

export interface ProposalAnswer {
  readonly id: string
  readonly status: string
  readonly summary: string
  readonly expiresAt: string
  readonly [member: string]: unknown
}

interface ProposalRefusal {
  readonly code: string
  readonly message: string
}

interface ProposalInput {
  readonly operation: string
  readonly given: ProposedMembers
  readonly reason: string | null
}

/**
 * Proposes an operation to the people of the account: checks it by its contract, describes it with what the
 * proposer may see, and stores it. Runs outside of a transaction, and changes nothing else.
 */
export async function createProposal(
  { operation, given, reason }: ProposalInput,
  proposer: ReadContext,
): Promise<{ readonly proposal: ProposalAnswer; readonly isRepeated: boolean } | ProposalRefusal> {
  const { service, actor, tenant, requestId } = proposer
  if (!actor.scopes.has('canvas:write'))
    return { code: 'missing_scope', message: 'The credential lacks the scope canvas:write.' }
  const plan = planned({ operation, given, reason }, proposer)
  if ('code' in plan) return plan
  const { before, isMissing } = await seenBy(proposer, plan)
  if (isMissing) return { code: 'not_found', message: `${operation}: record not found.` }
  const [basis, effect] = await Promise.all([
    computeProposalBasis(plan, { tools: service.tools, tenant, requestId }),
    effectOf(plan, proposer),
  ])
  const kept: NewProposal = {
    agentId: actor.agentId,
    operation,
    input: plan.given,
    hash: hash('sha256', canonicalJson([operation, plan.given]), 'base64url'),
    summary: summaryOf(plan, before),
    reason,
    changes: changesOf(plan, before),
    effect,
    recordId: plan.record?.id ?? null,
    basis,
    takesPasskey: plan.takesPasskey,
    proposedBy: { type: actor.type, id: actor.id, name: actor.name ?? null },
    proposerId: String(actor.id),
  }
  const answer = (await service.runFor(
    tenant,
    'proposals.make',
    { body: { proposal: kept } },
    requestId,
  )) as {
    readonly proposal: ProposalAnswer | null
    readonly isRepeated: boolean
  }
  const { proposal, isRepeated } = answer
  return proposal ? { proposal, isRepeated } : tooMany
}

const tooMany: ProposalRefusal = {
  code: 'too_many_proposals',
  message: 'Twenty proposals are already open. Wait until they are decided, or dismiss some.',
}

/** A proposal about proposals could apply itself. */
const isAboutProposals = (operation: string): boolean => operation.startsWith('proposals.')

const CARD_NUMBER: ProposalRefusal = {
  code: 'invalid_request',
  message: 'input: must not contain a card number.',
}

const containsSecret = (member: string): ProposalRefusal => ({
  code: 'not_proposable',
  message: `${member}: others read proposals, and this is a secret. Leave it out, or let a person enter it in the console.`,
})

function planned(
  { operation, given, reason }: ProposalInput,
  proposer: ReadContext,
): ToolCallPlan | ProposalRefusal {
  if (containsCardNumber([given, reason])) return CARD_NUMBER
  if (JSON.stringify(given).length > MAX_PROPOSAL_INPUT_LENGTH)
    return { code: 'invalid_request', message: 'input: too long for a proposal.' }
  try {
    const plan = proposer.service.tools.plan(proposer, operation, given)
    if (!plan) return { code: 'unknown_operation', message: `operation: unknown operation ${operation}.` }
    if (plan.secret !== undefined) return containsSecret(plan.secret)
    if (plan.canBeProposed && !isAboutProposals(operation)) return plan
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, message: error.message }
    throw error
  }
  return {
    code: 'not_proposable',
    message: `${operation} cannot be proposed: it changes nothing, people cannot run it, or it starts at a person’s device.`,
  }
}

const MOST_CHANGES = 50

/** Reads the record with the rights of the proposer, and says whether they miss it. */
async function seenBy(
  proposer: ReadContext,
  { record }: Pick<ToolCallPlan, 'record'>,
): Promise<{ readonly before?: ProposedMembers; readonly isMissing: boolean }> {
  if (!record) return { isMissing: false }
  const { body, refusal } = await proposer.service.tools.call(proposer, record.operation, record.given, null)
  // An agent must not learn of records that it may not see. A missing policy does not prevent a proposal to
  // set one.
  const isHidden = proposer.actor.type === 'agent' && refusal !== undefined
  const isMissing =
    refusal?.code !== 'no_policy_assigned' && (isHidden || /not_found$/.test(refusal?.code ?? ''))
  return { isMissing, ...(refusal ? {} : { before: body as ProposedMembers }) }
}

function changesOf(
  { given, record }: ToolCallPlan,
  before: ProposedMembers | undefined,
): ProposedDifference[] {
  const params = new Set(Object.keys(record?.given ?? {}))
  return Object.entries(given)
    .filter(([member]) => !params.has(member))
    .map(([member, to]) => ({
      member: truncateText(member),
      from: inWords(before?.[member]),
      to: inWords(to),
    }))
    .filter(({ from, to }) => from !== to)
    .slice(0, MOST_CHANGES)
}

const inWords = (value: unknown): string | null =>
  value === undefined || value === null
    ? null
    : truncateText(typeof value === 'string' ? value : JSON.stringify(value))

function summaryOf({ target, record }: ToolCallPlan, before: ProposedMembers | undefined): string {
  const name = before?.name ?? before?.merchant ?? record?.id
  return name === undefined ? target.summary : `${target.summary}: ${truncateText(String(name))}`
}

async function effectOf(
  { target, given }: ToolCallPlan,
  proposer: ReadContext,
): Promise<ProposalEffect | null> {
  if (target.operation === 'intents.create') return simulated(given, proposer)
  if (target.operation === 'policies.assign') return backtested(given, proposer)
  return null
}

const SIMULATED = [
  'agentId',
  'amountEuros',
  'merchant',
  'beneficiaryId',
  'walletId',
  'requestId',
  'mcc',
  'country',
]

async function simulated(given: ProposedMembers, proposer: ReadContext): Promise<ProposalEffect | null> {
  const asked = Object.fromEntries(
    SIMULATED.flatMap(name => (given[name] === undefined ? [] : [[name, given[name]]])),
  )
  const { body } = await proposer.service.tools.call(proposer, 'intents.simulate', asked, null)
  const decision = body as { allowed: boolean; requiresApproval: boolean; reason: string } | undefined
  if (!decision) return null
  const { allowed, requiresApproval, reason } = decision
  const verdict = !allowed ? 'denied' : requiresApproval ? 'sent for approval' : 'approved at once'
  return { source: 'simulation', sentence: truncateText(`It would be ${verdict}: ${reason}`) }
}

const REPLAYED_DAYS = 30

async function backtested(given: ProposedMembers, proposer: ReadContext): Promise<ProposalEffect | null> {
  const to = clock.real()
  const asked = {
    id: given.policyId,
    agentId: given.agentId,
    from: new Date(to.getTime() - days(REPLAYED_DAYS)).toISOString(),
    to: to.toISOString(),
  }
  const { body } = await proposer.service.tools.call(proposer, 'policies.backtest', asked, null)
  const found = body as Backtest | undefined
  if (!found) return null
  const { decisions, newlyDenied, newlyAllowed, newlyToPerson } = found
  return {
    source: 'backtest',
    sentence: `Of ${decisions} decisions in the last ${REPLAYED_DAYS} days, it would have newly denied ${newlyDenied.count}, allowed ${newlyAllowed.count} and sent ${newlyToPerson.count} for approval.`,
  }
}

type Count = { readonly count: number }

interface Backtest {
  readonly decisions: number
  readonly newlyDenied: Count
  readonly newlyAllowed: Count
  readonly newlyToPerson: Count
}

import { hash } from 'node:crypto'
import type { Context } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Plan } from '../../kernel/contract/tool.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { hasMaskableNumber } from '../../values/mask-card-numbers.ts'
import { basisOf } from './basis.ts'
import { changesOf, effectOf, seenBy, summaryOf } from './describe.ts'
import { type Given, LONGEST_INPUT, type NewProposal } from './proposal.ts'

/** A proposal as JSON. */
export interface Proposed {
  readonly id: string
  readonly status: string
  readonly summary: string
  readonly expiresAt: string
  readonly [member: string]: unknown
}

/** Why something was not proposed. */
export interface NotProposed {
  readonly code: string
  readonly message: string
}

export type Proposing = Pick<Context, 'actor' | 'requestId' | 'address' | 'runId' | 'ports' | 'tenant'>

interface Wish {
  readonly operation: string
  readonly given: Given
  readonly reason: string | null
}

/**
 * Proposes an operation to the people of the account: it is read by its contract, described by what the proposer may see,
 * and kept. Nothing else is changed. It is called where no transaction is open.
 */
export async function propose(
  { operation, given, reason }: Wish,
  proposer: Proposing,
): Promise<{ readonly proposal: Proposed; readonly isRepeated: boolean } | NotProposed> {
  const { ports, actor, tenant, requestId } = proposer
  if (!actor.scopes.has('canvas:write'))
    return { code: 'missing_scope', message: 'The credential lacks the scope canvas:write.' }
  const plan = planned({ operation, given, reason }, proposer)
  if ('code' in plan) return plan
  const { before, isMissing } = await seenBy(proposer, plan)
  if (isMissing) return { code: 'not_found', message: `${operation}: you have no such record.` }
  const [basis, effect] = await Promise.all([
    basisOf(plan, { tools: ports.tools, tenant, requestId }),
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
  const answer = (await ports.runFor(tenant, 'proposals.make', { body: { proposal: kept } }, requestId)) as {
    readonly proposal: Proposed | null
    readonly isRepeated: boolean
  }
  const { proposal, isRepeated } = answer
  return proposal ? { proposal, isRepeated } : tooMany
}

const tooMany: NotProposed = {
  code: 'too_many_proposals',
  message: 'Twenty proposals wait for a person already. Wait until they are decided, or dismiss some.',
}

/** Proposals about proposals would let a text have itself applied. */
const isAboutProposals = (operation: string): boolean => operation.startsWith('proposals.')

const CARD_NUMBER: NotProposed = {
  code: 'invalid_request',
  message: 'input: no operation takes the number of a card. Leave it out.',
}

function planned({ operation, given, reason }: Wish, proposer: Proposing): Plan | NotProposed {
  if (hasMaskableNumber([given, reason])) return CARD_NUMBER
  if (JSON.stringify(given).length > LONGEST_INPUT)
    return { code: 'invalid_request', message: 'input: it is too long for a proposal.' }
  try {
    const plan = proposer.ports.tools.plan(proposer, operation, given)
    if (!plan)
      return { code: 'unknown_operation', message: `operation: there is no ${operation} to propose.` }
    if (plan.canBeProposed && !isAboutProposals(operation)) return plan
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, message: error.message }
    throw error
  }
  return {
    code: 'not_proposable',
    message: `${operation} cannot be proposed: it changes nothing, no person may do it, or it begins with a person at a device.`,
  }
}

import { LockMode } from '@mikro-orm/core'
import {
  refuseUnsignedWidening,
  signerOfWidening,
  type WebauthnAssertion,
  type widening,
} from '../../identity/passkeys/index.ts'
import { findPerson } from '../../identity/people/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers, type ContextOf } from '../../kernel/contract/operation.ts'
import { Accepted, Refusal } from '../../kernel/contract/problem.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { addMs } from '../../values/clock.ts'
import {
  type ApprovalProgress,
  advanceApproval,
  approverRefusalCodes,
  beginApproval,
  dropApprovals,
  giveApproval,
  readApproversAndDeputies,
  tooFewApprovers,
  whyNotAsked,
} from '../approvals/index.ts'
import { policyChangesApi, type proposing } from './change-api.ts'
import type { Policy } from './policy.ts'
import {
  CHANGE_AMOUNT,
  isWaitingChange,
  MAX_WAITING_CHANGES,
  POLICY_CHANGE_TTL_MS,
  PolicyChange,
  type PolicyWrite,
  policyChangeEvent,
  policyChangeMachine,
  policyChangeResponse,
  stepOfChanges,
} from './policy-change.ts'
import { carryOutWrite, type Hold } from './policy-writes.ts'

type Proposing = Context<
  keyof typeof widening.fails | keyof typeof proposing.fails | 'too_few_approvers',
  typeof widening.emits & typeof proposing.emits
>

interface Proposed {
  readonly write: PolicyWrite
  readonly policies: readonly Policy[]
  readonly changes: readonly StatedWidening[]
}

/**
 * What a change of these policies waits for. Where they ask several people, the change itself needs as many of them as the
 * highest step: until then it is kept, and the answer is the record of that. Otherwise the person in the console signs it.
 */
export const holdUntilApproved =
  (write: PolicyWrite, envelope: WebauthnAssertion | undefined, context: Proposing): Hold =>
  async (policies, compare) => {
    const step = stepOfChanges(policies)
    if (!step) return refuseUnsignedWidening(envelope, compare, context)
    const changes = await compare()
    if (changes.length === 0) return undefined
    const { sql, tenant, actor, now, refuse } = context
    const approvers = await readApproversAndDeputies(sql, { tenant, now })
    const few = tooFewApprovers([step], approvers)
    if (few) return refuse('too_few_approvers', few)
    const unsigned = await refuseUnsignedWidening(envelope, () => changes, context)
    if (unsigned) return unsigned
    const begun = beginApproval([step], CHANGE_AMOUNT, { now, requesters: [] }) as ApprovalProgress
    const isAsked = actor.type === 'console' && whyNotAsked(begun, approvers, String(actor.id)) === undefined
    const approval = isAsked ? giveApproval(begun, approvers, { personId: String(actor.id), now }) : begun
    const { outcome } = advanceApproval(approval, CHANGE_AMOUNT, { approvers, now })
    return outcome === 'approved' ? undefined : propose({ write, policies, changes }, approval, context)
  }

async function propose(
  { write, policies, changes }: Proposed,
  approval: ApprovalProgress,
  { em, actor, now, emit, refuse }: Proposing,
): Promise<Accepted | Refusal> {
  const waiting = await em.count(PolicyChange, { status: 'waiting', expiresAt: { $gt: now } })
  if (waiting >= MAX_WAITING_CHANGES) return refuse('too_many_changes')
  const change = em.create(PolicyChange, {
    write,
    policyId: 'policyId' in write ? write.policyId : (policies[0]?.id ?? null),
    agentId: 'agentId' in write ? write.agentId : (policies[0]?.agentId ?? null),
    changes,
    approval,
    proposedBy: proposerOf(actor),
    expiresAt: addMs(now, POLICY_CHANGE_TTL_MS),
  })
  emit('policy.change_proposed', policyChangeEvent(change))
  return new Accepted(policyChangeResponse(change, now))
}

const proposerOf = ({ type, id, name }: Actor) => ({ type, id, name: name ?? null })

const lockChange = (em: EntityManager, id: string): Promise<PolicyChange | null> =>
  em.findOne(PolicyChange, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })

type Approving = ContextOf<typeof policyChangesApi.approveChange>

/** Carries it out if the policies are still as people have signed. */
async function carryOut(change: PolicyChange, context: Approving): Promise<Refusal | undefined> {
  const { emit, refuse } = context
  const asSigned: Hold = async (_, compare) =>
    canonicalJson(await compare()) === canonicalJson(change.changes)
      ? undefined
      : refuse('policy_change_outdated')
  const done = await carryOutWrite(change.write, asSigned, context)
  const refusal = Array.isArray(done) ? refuse('policy_change_outdated', done[1]) : done
  const isRefused = refusal instanceof Refusal
  policyChangeMachine.move(change, isRefused ? 'outdated' : 'applied')
  if (isRefused) change.reason = refusal.message
  emit('policy.change_ended', policyChangeEvent(change))
  return isRefused ? refusal : undefined
}

export const policyChangeHandlers = bindHandlers(policyChangesApi, {
  async changes({ query: { status, agentId } }, { page, now }) {
    const changes = await page(PolicyChange, definedOnly({ status, agentId }))
    return { ...changes, data: changes.data.map(change => policyChangeResponse(change, now)) }
  },

  async change({ params }, { em, now, refuse }) {
    const change = await em.findOne(PolicyChange, { id: params.id })
    return change ? policyChangeResponse(change, now) : refuse('policy_change_not_found')
  },

  async approveChange({ params, body }, context) {
    const { sql, tenant, now, emit, refuse } = context
    const change = await lockChange(context.em, params.id)
    if (!change) return refuse('policy_change_not_found')
    if (!isWaitingChange(change, now)) return refuse('policy_change_over')
    if (body.personId !== undefined && !(await findPerson(body.personId, context)))
      return refuse('person_not_found')
    const approvers = await readApproversAndDeputies(sql, { tenant, now })
    const progress = dropApprovals(change.approval, approvers)
    const signer = await signerOfWidening(
      body.webauthnAssertion,
      change.changes,
      body.personId ?? null,
      context,
    )
    if (signer instanceof Refusal) return signer
    const why = whyNotAsked(progress, approvers, signer.id)
    if (why) return refuse(approverRefusalCodes[why])
    change.approval = giveApproval(progress, approvers, { personId: signer.id, now })
    const { outcome } = advanceApproval(change.approval, CHANGE_AMOUNT, { approvers, now })
    if (outcome !== 'approved') emit('policy.change_approved', policyChangeEvent(change))
    const refusal = outcome === 'approved' ? await carryOut(change, context) : undefined
    return refusal ?? policyChangeResponse(change, now)
  },

  async rejectChange({ params, body }, context) {
    const { now, emit, refuse } = context
    const change = await lockChange(context.em, params.id)
    if (!change) return refuse('policy_change_not_found')
    if (!isWaitingChange(change, now)) return refuse('policy_change_over')
    policyChangeMachine.move(change, 'rejected')
    change.reason = body.reason
    emit('policy.change_ended', policyChangeEvent(change))
    return policyChangeResponse(change, now)
  },
})

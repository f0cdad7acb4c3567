import { inRange } from '../../kernel/contract/conditions.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { Accepted, Refusal } from '../../kernel/contract/problem.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import type { StatedWidening } from '../../statements/index.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
import {
  type ApproverChange,
  Deputy,
  deputyEvent,
  doSpansOverlap,
  type HoldApproverChange,
  holdUntilApproved,
  isAskedIn,
  isForOther,
  MAX_DEPUTIES,
  mayHaveOrBeDeputy,
  namingInWords,
  spanProblem,
} from '../approvals/index.ts'
import { Person } from '../customers/index.ts'
import {
  consumeAssertion,
  linkingChallenge,
  lockPasskeys,
  passkeySummary,
  signerOfWidening,
  verifyAssertion,
  type WebauthnAssertion,
} from '../passkeys/index.ts'
import type { deputiesApi } from './api.ts'

type Naming = ContextOf<typeof deputiesApi.create>

export interface DeputyWrite {
  readonly operation: 'deputies.create'
  readonly personId: string
  readonly deputyId: string
  /** ISO instants where it was kept. */
  readonly from: Date | string
  readonly until: Date | string
}

/** Locks the tenant's people, so that two spans that overlap see each other, and both people stay who they are. */
export async function recordDeputy(
  { personId, deputyId, ...span }: Omit<DeputyWrite, 'operation'>,
  hold: (change: ApproverChange, person: Person) => ReturnType<HoldApproverChange>,
  context: WriteContext<Pick<(typeof deputiesApi.create)['emits'], 'person.deputy_named'>>,
) {
  const { em, now, emit } = context
  const named = { deputyId, from: new Date(span.from), until: new Date(span.until) }
  const [, , people, others] = await Promise.all([
    lockPasskeys(context),
    lockTenant(context, 'people'),
    em.find(Person, { id: { $in: [personId, deputyId] } }),
    em.find(Deputy, { personId, until: inRange({ gt: now }) }),
  ])
  const [person, deputy] = [personId, deputyId].map(id => people.find(one => one.id === id))
  if (!person || person.status === 'removed') return 'person_not_found'
  const problem = spanProblem(named, now)
  if (problem) return ['invalid_span', problem] as const
  if (!mayHaveOrBeDeputy(person)) return 'person_not_approver'
  if (person === deputy) return 'own_deputy'
  if (!deputy) return ['person_not_found', 'deputyId: no such person.'] as const
  if (!mayHaveOrBeDeputy(deputy)) return 'deputy_not_approver'
  if (others.length >= MAX_DEPUTIES) return 'too_many_deputies'
  if (others.some(other => doSpansOverlap(named, other))) return 'deputies_overlap'
  const change = {
    personId,
    concerns: (step: ApprovalStep) => isAskedIn(step, person),
    changes: [namingInWords(person, deputy, named)],
  }
  const held = await hold(change, person)
  if (held) return held
  const record = em.create(Deputy, { personId, ...named })
  emit('person.deputy_named', deputyEvent(record))
  return record
}

export const nameDeputy: HandlerOf<typeof deputiesApi.create> = async ({ params, body }, context) => {
  const { webauthnAssertion, ...named } = body
  const { actor, refuse } = context
  if (isForOther(params.id, actor)) return refuse('not_own_deputies')
  const write = { operation: 'deputies.create', personId: params.id, ...named } as const
  const done = await recordDeputy(
    write,
    async (change, person) => {
      const signer = await signerOfNaming(person, webauthnAssertion, change.changes, context)
      return signer instanceof Refusal ? signer : holdUntilApproved(write, signer, context)(change)
    },
    context,
  )
  if (typeof done === 'string') return refuse(done)
  const isAnswer = done instanceof Deputy || done instanceof Refusal || done instanceof Accepted
  return isAnswer ? done : refuse(done[0], done[1])
}

const SIGN_IT =
  'webauthnAssertion: this lets another person approve, so the passkey of an owner or of the person must sign it. Let them sign the challenge that the header Link of this answer names, and send the request again with the signature.'

/** A key alone names a deputy only while no one can sign, since its holder could otherwise choose who approves: null. */
async function signerOfNaming(
  person: Person,
  envelope: WebauthnAssertion | undefined,
  changes: readonly StatedWidening[],
  context: Naming,
): Promise<string | null | Refusal> {
  const { actor, sql, tenant, refuse } = context
  if (actor.type === 'console') {
    const signer = await signerOfWidening(envelope, changes, null, context)
    return signer instanceof Refusal ? signer : signer.id
  }
  const { everEnrolled } = await passkeySummary(sql, tenant)
  if (!everEnrolled) return null
  const statement = { kind: 'widening', members: { changes } } as const
  if (!envelope) {
    return linkingChallenge(
      refuse('assertion_required', SIGN_IT),
      { ...statement, subjectId: person.id },
      context,
    )
  }
  const verified = await verifyAssertion(envelope, context)
  if (typeof verified === 'string') return refuse(verified)
  const code = await consumeAssertion(verified, statement, context)
  if (code) return refuse(code)
  const { id, scopes } = verified.person
  return id === person.id || scopes.has('people:write')
    ? id
    : refuse('insufficient_role', 'Neither this person nor an owner has signed. Let one of them sign.')
}

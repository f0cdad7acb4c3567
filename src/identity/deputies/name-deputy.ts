import { inRange } from '../../kernel/contract/conditions.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { Person } from '../customers/index.ts'
import {
  consumeAssertion,
  lockPasskeys,
  openPasskeyChallenge,
  passkeySummary,
  refuseUnsignedWidening,
  verifyAssertion,
  type WebauthnAssertion,
} from '../passkeys/index.ts'
import type { deputiesApi } from './api.ts'
import {
  Deputy,
  deputyEvent,
  doSpansOverlap,
  isForOther,
  MAX_DEPUTIES,
  mayHaveOrBeDeputy,
  namingInWords,
  spanProblem,
} from './deputy.ts'

type Naming = ContextOf<typeof deputiesApi.create>

/** Locks the tenant's people, so that two spans that overlap see each other, and both people stay who they are. */
export const nameDeputy: HandlerOf<typeof deputiesApi.create> = async ({ params, body }, context) => {
  const { webauthnAssertion, ...named } = body
  const { em, actor, now, emit, refuse } = context
  const [, , people, others] = await Promise.all([
    lockPasskeys(context),
    lockTenant(context, 'people'),
    em.find(Person, { id: { $in: [params.id, named.deputyId] } }),
    em.find(Deputy, { personId: params.id, until: inRange({ gt: now }) }),
  ])
  const [person, deputy] = [params.id, named.deputyId].map(id => people.find(one => one.id === id))
  if (!person || person.status === 'removed') return refuse('person_not_found')
  if (isForOther(person.id, actor)) return refuse('not_own_deputies')
  const problem = spanProblem(named, now)
  if (problem) return refuse('invalid_span', problem)
  if (!mayHaveOrBeDeputy(person)) return refuse('person_not_approver')
  if (person === deputy) return refuse('own_deputy')
  if (!deputy) return refuse('person_not_found', 'deputyId: no such person.')
  if (!mayHaveOrBeDeputy(deputy)) return refuse('deputy_not_approver')
  if (others.length >= MAX_DEPUTIES) return refuse('too_many_deputies')
  if (others.some(other => doSpansOverlap(named, other))) return refuse('deputies_overlap')
  const changes = [namingInWords(person, deputy, named)]
  const unsigned = await (actor.type === 'console'
    ? refuseUnsignedWidening(webauthnAssertion, () => changes, context)
    : refuseWithoutConsent(person, webauthnAssertion, changes, context))
  if (unsigned) return unsigned
  const record = em.create(Deputy, { personId: person.id, ...named })
  emit('person.deputy_named', deputyEvent(record))
  return record
}

const SIGN_IT =
  'webauthnAssertion: this lets another person approve, so the passkey of an owner or of the person must sign it. Let them sign the challenge of this answer, and send the request again with the signature.'

/** A key alone names a deputy only while no one can sign, since its holder could otherwise choose who approves. */
async function refuseWithoutConsent(
  person: Person,
  envelope: WebauthnAssertion | undefined,
  changes: readonly StatedWidening[],
  context: Naming,
): Promise<Refusal | undefined> {
  const { sql, tenant, refuse } = context
  const { everEnrolled } = await passkeySummary(sql, tenant)
  if (!everEnrolled) return undefined
  const statement = { kind: 'widening', members: { changes } } as const
  if (!envelope) {
    const challenge = await openPasskeyChallenge({ ...statement, subjectId: person.id }, context)
    return refuse('assertion_required', SIGN_IT).adding({ challenge })
  }
  const verified = await verifyAssertion(envelope, context)
  if (typeof verified === 'string') return refuse(verified)
  const code = await consumeAssertion(verified, statement, context)
  if (code) return refuse(code)
  const { id, scopes } = verified.person
  return id === person.id || scopes.has('people:write')
    ? undefined
    : refuse('insufficient_role', 'Neither this person nor an owner has signed. Let one of them sign.')
}

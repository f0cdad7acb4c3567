import type { Actor } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { Kind } from '../../statements/index.ts'
import {
  consumeChallenge,
  decideAssertion,
  type ExpectedStatement,
  lockPasskeyChallenges,
  writeAssertionUse,
} from './decide-assertions.ts'
import { type CheckedAssertion, readAssertions, type VerifiedAssertion } from './read-assertions.ts'
import type { AssertionRefusalCode, assertionEvents, WebauthnAssertion } from './schemas.ts'

export type AssertionContext = WriteContext<typeof assertionEvents>

/**
 * Checks an assertion for the handler of one request. Call it before any row is locked. A failure burns the
 * challenge and counts a wrong signature; the refusal commits both. A genuine assertion counts only after
 * `consumeAssertion`.
 */
export async function verifyAssertion(
  envelope: WebauthnAssertion | undefined,
  context: AssertionContext,
): Promise<VerifiedAssertion | AssertionRefusalCode> {
  if (!envelope) return 'assertion_required'
  const { sql, queueStatement, tenant, ports, actor, address } = context
  const checked = (await readAssertions(sql, tenant, [envelope], ports)).get(envelope) as CheckedAssertion
  if (checked.verified) return checked.verified
  const locked = await lockPasskeyChallenges(sql, tenant, [{ checked, actor, address }])
  const stopped = locked.stopped.get(checked)
  if (stopped) throw stopped
  const code = consumeChallenge(checked, locked, context)
  queueStatement(writeAssertionUse(sql, tenant, locked))
  return code ?? checked.code ?? 'assertion_invalid'
}

/** Whether a genuine assertion matches what is expected, under the locks. Burns its challenge in any case. */
export async function consumeAssertion<K extends Kind>(
  verified: VerifiedAssertion,
  expected: ExpectedStatement<K>,
  context: AssertionContext,
): Promise<AssertionRefusalCode | undefined> {
  const { sql, queueStatement, tenant, actor, address } = context
  const { challengeId, passkeyId } = verified
  const checked = { challengeId, passkeyId, code: undefined, verified }
  const locked = await lockPasskeyChallenges(sql, tenant, [{ checked, actor, address }])
  const code = decideAssertion(
    checked,
    locked,
    { personId: requiredSignerId(actor, expected.kind), ...expected },
    context,
  )
  queueStatement(writeAssertionUse(sql, tenant, locked))
  return code
}

/** In the console, people sign for themselves. Only a revocation may need another person's passkey. */
export const requiredSignerId = ({ type, id }: Actor, kind: Kind): string | null =>
  type === 'console' && kind !== 'revocation' ? id : null

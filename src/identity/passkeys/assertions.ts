import type { Actor } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Kind } from '../../statements/index.ts'
import {
  burnChallenge,
  decideAssertion,
  type ExpectedStatement,
  lockChallenges,
  writeAssertions,
} from './decide-assertions.ts'
import { type CheckedAssertion, readAssertions, type VerifiedAssertion } from './read-assertions.ts'
import type { AssertionCode, assertionEvents, Envelope } from './schemas.ts'

export type Asserting = Pick<
  Context<never, typeof assertionEvents>,
  'sql' | 'queueStatement' | 'tenant' | 'ports' | 'emit' | 'actor' | 'address'
>

/**
 * Checks an assertion for the handler of one request. Call it before any row is locked. A failure burns the
 * challenge and counts a wrong signature; the refusal commits both. A genuine assertion counts only after
 * `burnAssertion`.
 */
export async function verifyAssertion(
  envelope: Envelope | undefined,
  context: Asserting,
): Promise<VerifiedAssertion | AssertionCode> {
  if (!envelope) return 'assertion_required'
  const { sql, queueStatement, tenant, ports, actor, address } = context
  const checked = (await readAssertions(sql, tenant, [envelope], ports)).get(envelope) as CheckedAssertion
  if (checked.verified) return checked.verified
  const locked = await lockChallenges(sql, tenant, [{ checked, actor, address }])
  const stopped = locked.stopped.get(checked)
  if (stopped) throw stopped
  const code = burnChallenge(checked, locked, context)
  queueStatement(writeAssertions(sql, tenant, locked))
  return code ?? checked.code ?? 'assertion_invalid'
}

/** Whether a genuine assertion matches what is expected, under the locks. Burns its challenge in any case. */
export async function burnAssertion<K extends Kind>(
  verified: VerifiedAssertion,
  expected: ExpectedStatement<K>,
  context: Asserting,
): Promise<AssertionCode | undefined> {
  const { sql, queueStatement, tenant, actor, address } = context
  const { challengeId, passkeyId } = verified
  const checked = { challengeId, passkeyId, code: undefined, verified }
  const locked = await lockChallenges(sql, tenant, [{ checked, actor, address }])
  const code = decideAssertion(
    checked,
    locked,
    { personId: signerOf(actor, expected.kind), ...expected },
    context,
  )
  queueStatement(writeAssertions(sql, tenant, locked))
  return code
}

/** In the console, people sign for themselves. Only a revocation may need another person's passkey. */
export const signerOf = ({ type, id }: Actor, kind: Kind): string | null =>
  type === 'console' && kind !== 'revocation' ? id : null

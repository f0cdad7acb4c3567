import type { CallerContext, WriteContext } from '../../kernel/contract/context.ts'
import { mayGrantRole, type PersonRole } from '../../kernel/contract/scopes.ts'
import type { Subjects } from '../../statements/index.ts'
import { Person } from '../customers/index.ts'
import {
  type AssertionRefusalCode,
  type assertionEvents,
  consumeAssertion,
  lockPasskeys,
  passkeySummary,
  type VerifiedAssertion,
  verifyAssertion,
  type WebauthnAssertion,
} from '../passkeys/index.ts'

/** The signature of an owner's passkey; null if the tenant has never had a passkey, so that signing is impossible. */
export type OwnerConsent = VerifiedAssertion | null

/**
 * An owner's consent to an invitation, or a refusal. Call it before any row is locked. If signing is
 * impossible, the lock prevents the first passkey from being enrolled meanwhile.
 */
export async function verifyOwnerConsent(
  envelope: WebauthnAssertion | undefined,
  context: WriteContext<typeof assertionEvents>,
): Promise<OwnerConsent | AssertionRefusalCode> {
  if (envelope) return verifyAssertion(envelope, context)
  const [, { everEnrolled }] = await Promise.all([
    lockPasskeys(context),
    passkeySummary(context.sql, context.tenant),
  ])
  return everEnrolled ? 'assertion_required' : null
}

/** Without any passkey, a key decides. It can grant only the rights in the console that it has itself. */
export const exceedsKeyScopes = (
  role: PersonRole,
  consent: OwnerConsent,
  { actor }: CallerContext,
): boolean => consent === null && actor.type === 'key' && !mayGrantRole(actor.scopes, role)

/**
 * Consumes the consent under the lock of the tenant's people. The consent must be for exactly this change, by
 * a person who is still an owner.
 */
export async function consumeOwnerConsent(
  consent: OwnerConsent,
  members: Subjects['invitation'],
  context: WriteContext<typeof assertionEvents>,
): Promise<AssertionRefusalCode | undefined> {
  if (!consent) return undefined
  const code = await consumeAssertion(consent, { kind: 'invitation', members }, context)
  if (code) return code
  const signer = await context.em.findOne(Person, { id: consent.person.id })
  return signer?.status === 'active' && signer.role === 'owner' ? undefined : 'insufficient_role'
}

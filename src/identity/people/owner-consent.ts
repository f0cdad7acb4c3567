import type { Context } from '../../kernel/contract/context.ts'
import { mayGive, type Role } from '../../kernel/contract/scopes.ts'
import type { Subjects } from '../../statements/index.ts'
import {
  type AssertionCode,
  type assertionEvents,
  burnAssertion,
  type Envelope,
  lockPasskeys,
  passkeyStanding,
  type Verified,
  verifyAssertion,
} from '../passkeys/index.ts'
import { Person } from './person.ts'

type Asking = Pick<
  Context<never, typeof assertionEvents>,
  'records' | 'sql' | 'sendAlong' | 'tenant' | 'ports' | 'emit' | 'actor' | 'address'
>

/** What the passkey of an owner has signed; null while the tenant has never had a passkey, so that nobody can sign. */
export type Consent = Verified | null

/**
 * The consent of an owner to inviting somebody, or why it does not count. Ask before any row is locked. Where nobody can
 * sign, the lock keeps the first passkey from being enrolled meanwhile.
 */
export async function consentOf(
  envelope: Envelope | undefined,
  context: Asking,
): Promise<Consent | AssertionCode> {
  if (envelope) return verifyAssertion(envelope, context)
  const [, { everEnrolled }] = await Promise.all([
    lockPasskeys(context),
    passkeyStanding(context.sql, context.tenant),
  ])
  return everEnrolled ? 'assertion_required' : null
}

/** Where nobody can sign, a key decides alone: it lets nobody do in the console what it may not do itself. */
export const isBeyondKey = (role: Role, consent: Consent, { actor }: Pick<Asking, 'actor'>): boolean =>
  consent === null && actor.type === 'key' && !mayGive(actor.scopes, role)

/** Uses the consent up, under the lock of the tenant’s people: it must be to exactly this, and by one who is still an owner. */
export async function useConsent(
  consent: Consent,
  members: Subjects['invitation'],
  context: Asking,
): Promise<AssertionCode | undefined> {
  if (!consent) return undefined
  const code = await burnAssertion(consent, { kind: 'invitation', members }, context)
  if (code) return code
  const signer = await context.records.findOne(Person, { id: consent.person.id })
  return signer?.status === 'active' && signer.role === 'owner' ? undefined : 'person_may_not'
}

import type { Context } from '../../kernel/contract/context.ts'
import type { Subjects } from '../../statements/index.ts'
import {
  type AssertionCode,
  type assertionEvents,
  burnAssertion,
  type Envelope,
  type Verified,
  verifyAssertion,
} from '../passkeys/index.ts'

type Asking = Pick<
  Context<never, typeof assertionEvents>,
  'sql' | 'tenant' | 'ports' | 'emit' | 'actor' | 'address' | 'sendAlong'
>

/** In the console a person signs for each new key, or why that does not count; a key signs nothing. Ask before any row is locked. */
export const consentToKey = async (
  envelope: Envelope | undefined,
  context: Asking,
): Promise<Verified | undefined | AssertionCode> =>
  context.actor.type === 'console' ? verifyAssertion(envelope, context) : undefined

/** Uses the consent up: it must be to exactly this key. */
export const useConsentToKey = async (
  consent: Verified | undefined,
  members: Subjects['key'],
  context: Asking,
): Promise<AssertionCode | undefined> => consent && burnAssertion(consent, { kind: 'key', members }, context)

import type { Context, ReadContext } from '../../kernel/contract/context.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Kind, StatedWidening } from '../../statements/index.ts'
import { challengeLink } from '../../values/challenge-link.ts'
import { type AssertionContext, consumeAssertion, requiredSignerId, verifyAssertion } from './assertions.ts'
import { type ChallengeOpening, openPasskeyChallenge, passkeyDescriptors } from './open-challenge.ts'
import type { PasskeyHolder } from './read-assertions.ts'
import {
  assertionEvents,
  assertionRefusals,
  type WebauthnAssertion,
  webauthnAssertionSchema,
} from './schemas.ts'

/**
 * What the contract of an operation needs by which people in the console can let more be spent. The thief of a
 * session has no passkey.
 */
export const widening = {
  members: {
    webauthnAssertion: webauthnAssertionSchema.optional().meta({
      description:
        'In the console: the signature over the challenge that `assertion_required` links to. A key needs none.',
    }),
  },
  fails: {
    ...assertionRefusals,
    assertion_required: [...assertionRefusals.assertion_required, { links: 'challenge' }],
    passkey_required: [
      403,
      'This lets more be spent, changes who is paid or approves, or pays money back, so a passkey must sign it, and you have none. Create one at /join, or ask an owner for a link.',
    ],
    too_much_to_sign: [
      400,
      'This lets more be spent by more rules than a person can read before signing. Change fewer at a time, or use a key.',
    ],
  },
  emits: assertionEvents,
  signature: { inRefusal: true },
} as const satisfies {
  readonly members: object
  readonly signature: object
  readonly fails: Record<string, RefusalSpec>
  readonly emits: object
}

/** What the contract needs as well where a policy can ask several people: then a key sends the signature of a person. */
export const wideningBySeveral = {
  members: {
    webauthnAssertion: webauthnAssertionSchema.optional().meta({
      description:
        'In the console: the signature over the challenge that `assertion_required` links to. With a key: that of an approver over the challenge of `attestation_required`, where the policy asks several people.',
    }),
  },
  fails: {
    attestation_required: [
      400,
      'webauthnAssertion: the policy of the agent asks several people with passkeys for this, so a key or an operator cannot approve it. Have one of them sign the challenge that the header Link of this answer names, and send the request again with the signature.',
      { links: 'challenge' },
    ],
  },
} as const satisfies { readonly members: object; readonly fails: Record<string, RefusalSpec> }

/** Characters of the changes in one statement: some twenty pages. */
const MAX_SIGNED = 65_536

const SIGN_IT =
  'webauthnAssertion: this lets more be spent, changes who is paid or approves, or pays money back, so your passkey must sign it. Sign the challenge that the header Link of this answer names, and send the request again with the signature.'

/** The refusal that names what a passkey must sign. */
export async function linkingChallenge<K extends Kind>(
  refusal: Refusal,
  opening: ChallengeOpening<K>,
  context: ReadContext,
): Promise<Refusal> {
  const { challengeId } = await openPasskeyChallenge(opening, context)
  return refusal.linking(challengeLink(challengeId))
}

type WideningContext = AssertionContext & Context<keyof typeof widening.fails, typeof assertionEvents>

/**
 * Why a change may not be made yet: the person in the console has not signed what it widens. Undefined for
 * other callers, and where nothing is widened. Call it under the locks of what is compared, and before
 * anything is changed, since a refusal commits.
 */
export async function refuseUnsignedWidening(
  envelope: WebauthnAssertion | undefined,
  compare: () => readonly StatedWidening[] | Promise<readonly StatedWidening[]>,
  context: WideningContext,
): Promise<Refusal | undefined> {
  if (context.actor.type !== 'console') return undefined
  const changes = await compare()
  if (changes.length === 0) return undefined
  const signer = await signerOfWidening(envelope, changes, null, context)
  return signer instanceof Refusal ? signer : undefined
}

/**
 * The person whose passkey has signed these changes, also where a key sends the signature; otherwise the refusal, which has
 * what is to be signed. In the console people sign for themselves; a key may name the person.
 */
export async function signerOfWidening(
  envelope: WebauthnAssertion | undefined,
  changes: readonly StatedWidening[],
  personId: string | null,
  context: WideningContext,
): Promise<PasskeyHolder | Refusal> {
  const { actor, sql, tenant, refuse } = context
  if (JSON.stringify(changes).length > MAX_SIGNED) return refuse('too_much_to_sign')
  const statement = { kind: 'widening', members: { changes } } as const
  if (envelope) {
    const verified = await verifyAssertion(envelope, context)
    if (typeof verified === 'string') return refuse(verified)
    const code = await consumeAssertion(verified, statement, context)
    return code ? refuse(code) : verified.person
  }
  const signer = requiredSignerId(actor, 'widening') ?? personId
  const own = await passkeyDescriptors(sql, tenant, signer)
  if (own.length === 0) return refuse('passkey_required')
  const opening = { ...statement, subjectId: null, personId: signer }
  return linkingChallenge(refuse('assertion_required', SIGN_IT), opening, context)
}

/**
 * The approver who has signed what a change widens, where a policy asks several people: a key sends the signature of any of
 * them, and an operator has none to send. Call it like `refuseUnsignedWidening`.
 */
export async function approverOfWidening(
  envelope: WebauthnAssertion | undefined,
  changes: readonly StatedWidening[],
  context: WideningContext & Context<keyof typeof wideningBySeveral.fails, typeof assertionEvents>,
): Promise<PasskeyHolder | Refusal> {
  const { actor, refuse } = context
  if (envelope || actor.type === 'console') return signerOfWidening(envelope, changes, null, context)
  const refusal = refuse('attestation_required')
  if (actor.type !== 'key') return refusal
  const statement = { kind: 'widening', members: { changes } } as const
  return linkingChallenge(refusal, { ...statement, subjectId: null }, context)
}

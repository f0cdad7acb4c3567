import type { Context } from '../../kernel/contract/context.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { type NamedRecipient, recipientOf, recipientRefusals } from '../filler-keys/index.ts'
import type { AccessReason, AccessWay } from './access-event.ts'
import { type DisclosureRequest, disclosureRequest } from './disclosure.ts'
import { denialOf, grant } from './record-ask.ts'
import type { accessRefusals } from './refusals.ts'
import type { accessEvents } from './schemas.ts'
import { openSubject } from './subject.ts'

type RedeemContext = Omit<Context<keyof typeof accessRefusals, typeof accessEvents>, 'refuse'> & {
  refuse(code: string, message?: string): Refusal
}

/** What is redeemed for the data of a card: a session or a credential. */
interface Redeemable {
  readonly id: string
  readonly way: AccessWay
  readonly cardId: string
  readonly intentId: string
  readonly merchantHost: string | null
  /** Why it is over; undefined while it can be redeemed. */
  readonly over: AccessReason | undefined
}

/**
 * Judges a redemption and records it. The caller has locked what is redeemed, and notes that it is used: of two at once
 * one finds it over.
 */
export async function redeem(
  { id, way, cardId, intentId, merchantHost, over }: Redeemable,
  recipient: NamedRecipient,
  context: RedeemContext,
): Promise<DisclosureRequest | Refusal> {
  const [subject, key] = await Promise.all([
    openSubject({ cardId, intentId }, context),
    recipientOf(recipient, context),
  ])
  const isKey = typeof key !== 'string'
  const keyThumbprint = (isKey ? key : recipient.publicKeyJwk)?.thumbprint ?? null
  const ask = { way, sourceId: id, purpose: null, merchantHost, keyThumbprint }
  const after = isKey ? [] : [{ code: key, message: recipientRefusals[key][1] }]
  const denial = denialOf(subject, ask, { before: over ? [over] : [], after }, context)
  if (denial) return denial
  if (!isKey || !subject.number) throw new Error('granted without a key or a number')
  // Throws before anything is reserved if this mode has no processor.
  context.ports.cardProcessor(context.tenant.mode)
  return disclosureRequest(grant(subject, ask, context), subject.number, key, context.now)
}

import type { Mode } from '../../kernel/contract/actor.ts'
import type { Context, DecideContext, WriteContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import type { ExternalCallContext } from '../../kernel/contract/handlers.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import {
  type EncryptedDisclosure,
  isProcessorFailure,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { hasCardNumber } from '../../values/card-number.ts'
import type { EncryptionKey } from '../../values/encryption-key.ts'
import { truncateText } from '../../values/schemas.ts'
import type { CardNumber } from '../cards/index.ts'
import { findRecipientKey, type RecipientKeyReference, recipientKeyRefusals } from '../filler-keys/index.ts'
import { accessEventData, denyCardAccess, grantCardAccess } from './access-decision.ts'
import { AccessEvent, AccessOutcome, type AccessReason, type AccessWay } from './access-event.ts'
import { type accessEvents, processorRefusals } from './api.ts'
import { loadCardDataSubject } from './token-cards.ts'

/** Stored before the call, so its members must be JSON. */
export interface DisclosureRequest {
  readonly accessEventId: string
  readonly mode: Mode
  readonly processorCardId: string
  readonly key: EncryptionKey
  readonly intentId: string | null
  readonly merchantHost: string | null
  readonly now: string
}

export const disclosureRequest = (
  { id, mode, intentId, merchantHost }: AccessEvent,
  { processorCardId }: CardNumber,
  key: EncryptionKey,
  now: Date,
): DisclosureRequest => ({
  accessEventId: id,
  mode,
  processorCardId,
  key,
  intentId,
  merchantHost,
  now: now.toISOString(),
})

export const disclosureCall = (
  { accessEventId, now }: Pick<DisclosureRequest, 'accessEventId' | 'now'>,
  requestId: string,
) => ({ reference: accessEventId, requestId, now: new Date(now) })

/** The processor encrypts number, expiry and CVC to the key, so this service cannot read them. */
export const discloseCardData = (
  request: DisclosureRequest,
  { systems, requestId }: ExternalCallContext,
): Promise<EncryptedDisclosure | ProcessorFailure> =>
  systems
    .cardProcessor(request.mode)
    .disclose(request.processorCardId, request, disclosureCall(request, requestId))

const CODES = {
  late: 'processor_silent',
  unusable: 'processor_unusable',
  refused: 'processor_refused',
} as const

type DisclosureProblem = keyof typeof processorRefusals

/** Passes on the processor's own message, unless it contains a card number. */
function problemOf(failure: ProcessorFailure): { code: DisclosureProblem; message: string } {
  const code = CODES[failure.failure]
  if (failure.failure !== 'refused' || hasCardNumber([failure.code, failure.message]))
    return { code, message: processorRefusals[code][1] }
  return { code, message: truncateText(`${processorRefusals[code][1]} It says: ${failure.message}`) }
}

type OutcomeContext = Context<DisclosureProblem, typeof accessEvents>

export function recordDisclosure(accessEventId: string, em: EntityManager): void {
  em.create(AccessOutcome, { id: accessEventId, outcome: 'disclosed' })
}

async function recordFailed(
  accessEventId: string,
  { code, message }: { readonly code: DisclosureProblem; readonly message: string },
  { em, emit, refuse }: OutcomeContext,
): Promise<Refusal> {
  const accessEvent = await em.findOneOrFail(AccessEvent, { id: accessEventId })
  em.create(AccessOutcome, { id: accessEventId, outcome: 'failed', code, message })
  emit('card.access_failed', { ...accessEventData(accessEvent), reasons: [code] })
  return refuse(code, message)
}

export async function recordDisclosureOutcome<T extends object>(
  answer: T | ProcessorFailure,
  accessEventId: string,
  context: OutcomeContext,
): Promise<T | Refusal> {
  if (isProcessorFailure(answer)) return recordFailed(accessEventId, problemOf(answer), context)
  recordDisclosure(accessEventId, context.em)
  return answer
}

export const recordLostDisclosure = (accessEventId: string, context: OutcomeContext): Promise<Refusal> =>
  recordFailed(
    accessEventId,
    { code: 'disclosure_lost', message: processorRefusals.disclosure_lost[1] },
    context,
  )

type RedeemContext = WriteContext<typeof accessEvents> & DecideContext<string>

interface Redeemable {
  readonly id: string
  readonly way: AccessWay
  readonly cardId: string
  readonly intentId: string
  readonly merchantHost: string | null
  readonly unusable: AccessReason | undefined
}

/**
 * Judges a redemption and records it. The caller holds the lock of the session or credential and marks it as
 * used, so that of two concurrent redemptions only one succeeds.
 */
export async function redeemCardAccess(
  { id, way, cardId, intentId, merchantHost, unusable }: Redeemable,
  recipient: RecipientKeyReference,
  context: RedeemContext,
): Promise<DisclosureRequest | Refusal> {
  const [subject, key] = await Promise.all([
    loadCardDataSubject({ cardId, intentId }, context),
    findRecipientKey(recipient, context),
  ])
  const isKey = typeof key !== 'string'
  const keyThumbprint = (isKey ? key : recipient.publicKeyJwk)?.thumbprint ?? null
  const accessRequest = { way, sourceId: id, purpose: null, merchantHost, keyThumbprint }
  const after = isKey ? [] : [{ code: key, message: recipientKeyRefusals[key][1] }]
  const denial = denyCardAccess(
    subject,
    accessRequest,
    { before: unusable ? [unusable] : [], after },
    context,
  )
  if (denial) return denial
  if (!isKey || !subject.number) throw new Error('granted without a key or a number')
  // Throws before anything is reserved if this mode has no processor.
  context.systems.cardProcessor(context.tenant.mode)
  return disclosureRequest(grantCardAccess(subject, accessRequest, context), subject.number, key, context.now)
}

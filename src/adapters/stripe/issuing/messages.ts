import { z } from 'zod'
import type { CardMessageContent, DisputeNotice, ParsedCardMessage } from '../../../ports/card-processor.ts'
import {
  authorizationOutcome,
  cardFactFromTransaction,
  messageFromUpdate,
  pendingAuthorizationRequest,
} from './authorizations.ts'
import {
  StripeAuthorization,
  StripeCard,
  StripeDispute,
  StripeEvent,
  StripeToken,
  StripeTransaction,
} from './event.ts'

type Translated = { readonly card: string; readonly content: CardMessageContent | null }

type Before = StripeEvent['data']['previous_attributes']

const translations: ReadonlyMap<string, (object: unknown, before: Before) => Translated> = new Map([
  ['issuing_authorization.request', ofAuthorization(pendingAuthorizationRequest)],
  ['issuing_authorization.created', ofAuthorization(authorizationOutcome)],
  ['issuing_authorization.updated', ofAuthorization(messageFromUpdate)],
  ['issuing_transaction.created', ofTransaction],
  ['issuing_card.updated', ofCard],
  ['issuing_token.created', ofToken],
  ['issuing_token.updated', ofToken],
  ['issuing_dispute.closed', ofDispute(closing)],
  ['issuing_dispute.funds_reinstated', ofDispute(reinstating)],
  ['issuing_dispute.funds_rescinded', ofDispute(() => ({ says: 'lost', amountCents: null }))],
])

function ofAuthorization(
  read: (authorization: StripeAuthorization, before: Before) => CardMessageContent | null,
) {
  return (object: unknown, before: Before): Translated => {
    const authorization = StripeAuthorization.parse(object)
    return { card: authorization.card, content: read(authorization, before) }
  }
}

function ofTransaction(object: unknown): Translated {
  const { card, authorization, ...transaction } = StripeTransaction.parse(object)
  return { card, content: cardFactFromTransaction(transaction, authorization ?? null) }
}

const SENT = new Set(['shipped', 'delivered'])

/** An event lists the changed members: an unchanged state is no news. */
function ofCard(object: unknown, before: Before): Translated {
  const { id, status, cancellation_reason, shipping } = StripeCard.parse(object)
  if ('status' in before && status === 'canceled')
    return { card: id, content: { kind: 'number_closed', reason: cancellation_reason ?? 'canceled' } }
  if (!('shipping' in before) || !shipping || !SENT.has(shipping.status ?? ''))
    return { card: id, content: null }
  const { carrier, tracking_number } = shipping
  return {
    card: id,
    content: { kind: 'shipped', carrier: carrier ?? null, trackingNumber: tracking_number ?? null },
  }
}

const wallets = { apple_pay: 'apple_pay', google_pay: 'google_pay', samsung_pay: 'samsung_pay' } as const

function ofToken(object: unknown): Translated {
  const { id, card, status, wallet_provider: wallet } = StripeToken.parse(object)
  const known = wallet && Object.hasOwn(wallets, wallet) ? wallets[wallet as keyof typeof wallets] : 'other'
  return { card, content: { kind: 'mobile_wallet', tokenId: id, wallet: known, status } }
}

type DisputeObject = z.output<typeof StripeDispute>
type DisputeReport = Pick<DisputeNotice, 'says' | 'amountCents'> | null

function ofDispute(read: (dispute: DisputeObject) => DisputeReport) {
  return (object: unknown): Translated => {
    const dispute = StripeDispute.parse(object)
    const { card, dispute_id: disputeId } = dispute.metadata
    const said = read(dispute)
    const isOurs = card !== undefined && disputeId !== undefined
    return { card: card ?? '', content: isOurs && said ? { kind: 'dispute', disputeId, ...said } : null }
  }
}

/** A dispute that was never submitted has expired: the network did not pay. */
function closing({ status, amount }: DisputeObject): DisputeReport {
  if (status === 'won') return { says: 'won', amountCents: amount }
  return { says: 'lost', amountCents: null }
}

/** Stripe pays during a dispute, or once it is won. */
function reinstating({ status, amount }: DisputeObject): DisputeReport {
  return { says: status === 'won' ? 'won' : 'credited', amountCents: amount }
}

export function translateStripeEvent(body: Uint8Array): ParsedCardMessage {
  try {
    const { id, type, created, data } = StripeEvent.parse(JSON.parse(Buffer.from(body).toString('utf8')))
    const translated = translations.get(type)?.(data.object, data.previous_attributes)
    if (!translated?.content) return { kind: 'ignored' }
    const { card: processorCardId, content } = translated
    return { kind: 'message', message: { id, processorCardId, sentAt: new Date(created * 1000), content } }
  } catch (error) {
    return { kind: 'unreadable', reason: reasonOf(error) }
  }
}

/** Names the member and the expected type, never the value. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'The body is not JSON.'
  if (!(error instanceof z.ZodError)) throw error
  const { path = [], message = '' } = error.issues[0] ?? {}
  return `${path.join('.') || 'event'}: ${message}`
}

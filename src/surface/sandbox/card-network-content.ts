import type { z } from 'zod'
import { authRequestsOf } from '../../control/payments/index.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { CardMerchant, MessageContent } from '../../ports/card-processor.ts'
import { minus, NO_CENTS } from '../../values/money.ts'
import type { MessageContext, NetworkContext } from './card-network-message.ts'
import type {
  AuthorizationBody,
  AuthorizeBody,
  ClearBody,
  DisputeBody,
  IncrementBody,
  MobileWalletBody,
  RefundBody,
  ReverseBody,
  ShipBody,
} from './card-network-schemas.ts'

type Made = MessageContent | Refusal

/** Derives missing ids from the message id, so that a repeated message has the same ones. */
const derivedId = (kind: string, { messageId }: MessageContext): string => `${kind}_of_${messageId}`

const named = ({ authorizationId }: MessageContext): string => authorizationId as string

interface GivenMerchant {
  readonly merchant?: string | undefined
  readonly mcc?: string | null | undefined
  readonly country?: string | null | undefined
  readonly url?: string | null | undefined
}

function merchantOf(
  given: GivenMerchant,
  { authorization, networkTokenId }: MessageContext,
  { refuse }: NetworkContext,
): CardMerchant | Refusal {
  const descriptor = given.merchant ?? authorization?.descriptor
  if (descriptor === undefined) return refuse('merchant_unnamed')
  const { mcc = authorization?.mcc ?? null, country = authorization?.country ?? null, url = null } = given
  return { descriptor, mcc, country, url, networkTokenId }
}

const withMerchant = (
  body: GivenMerchant,
  known: MessageContext,
  context: NetworkContext,
  content: (merchant: CardMerchant) => Made,
): Made => {
  const merchant = merchantOf(body, known, context)
  return merchant instanceof Refusal ? merchant : content(merchant)
}

export const authorizing = (
  body: z.output<typeof AuthorizeBody>,
  known: MessageContext,
  context: NetworkContext,
): Made =>
  withMerchant(body, known, context, merchant => ({
    kind: 'authorization',
    authorizationId: known.authorizationId ?? derivedId('auth', known),
    ask: 0,
    amountCents: body.amountCents,
    partialAllowed: body.partialAllowed,
    merchant,
  }))

export const incrementing = (
  body: z.output<typeof IncrementBody>,
  known: MessageContext,
  context: NetworkContext,
): Made =>
  withMerchant(body, known, context, merchant => ({
    kind: 'authorization',
    authorizationId: named(known),
    ask: body.ask ?? nextIncrement(known),
    amountCents: body.amountCents,
    partialAllowed: body.partialAllowed,
    merchant,
  }))

const nextIncrement = ({ authorization }: MessageContext): number =>
  Math.max(
    0,
    ...(authorization ? authRequestsOf(authorization.facts) : []).map(({ increment }) => increment),
  ) + 1

export const reversing = ({ amountCents }: z.output<typeof ReverseBody>, known: MessageContext): Made => ({
  kind: 'reversal',
  authorizationId: named(known),
  amountCents,
})

export const voiding = (_: z.output<typeof AuthorizationBody>, known: MessageContext): Made => ({
  kind: 'reversal',
  authorizationId: named(known),
  amountCents: null,
})

export const expiring = (_: z.output<typeof AuthorizationBody>, known: MessageContext): Made => ({
  kind: 'expiry',
  authorizationId: named(known),
})

export function clearing(
  body: z.output<typeof ClearBody>,
  known: MessageContext,
  context: NetworkContext,
): Made {
  const { approvedCents = NO_CENTS, clearedCents = NO_CENTS } = known.authorization ?? {}
  const amountCents = body.amountCents ?? minus(approvedCents, clearedCents)
  if (amountCents <= 0n) return context.refuse('nothing_left')
  return withMerchant(body, known, context, merchant => ({
    kind: 'clearing',
    clearingId: body.clearingId ?? derivedId('clearing', known),
    authorizationId: known.authorizationId ?? null,
    amountCents,
    final: body.final,
    merchant,
  }))
}

export const refunding = (
  body: z.output<typeof RefundBody>,
  known: MessageContext,
  context: NetworkContext,
): Made =>
  withMerchant(body, known, context, merchant => ({
    kind: 'refund',
    refundId: body.refundId ?? derivedId('refund', known),
    authorizationId: known.authorizationId ?? null,
    amountCents: body.amountCents,
    merchant,
  }))

export const shipping = ({ carrier, trackingNumber }: z.output<typeof ShipBody>): Made => ({
  kind: 'shipped',
  carrier,
  trackingNumber,
})

export const addingToWallet = (body: z.output<typeof MobileWalletBody>, known: MessageContext): Made => ({
  kind: 'mobile_wallet',
  tokenId: body.tokenId ?? derivedId('token', known),
  wallet: body.wallet,
  status: body.status,
})

export const deciding = ({ disputeId, says, amountCents }: z.output<typeof DisputeBody>): Made => ({
  kind: 'dispute',
  disputeId,
  says,
  amountCents: says === 'lost' ? null : (amountCents ?? null),
})

import type { z } from 'zod'
import { decodeAuthRequests } from '../../control/payments/index.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { CardMerchant, CardMessageContent } from '../../ports/card-processor.ts'
import { NO_CENTS, subtractCents } from '../../values/money.ts'
import type { NetworkMessageContext, SandboxNetworkContext } from './card-network-message.ts'
import type {
  MobileWalletBody,
  SandboxAuthorizationBody,
  SandboxAuthorizeBody,
  SandboxClearBody,
  SandboxDisputeBody,
  SandboxIncrementBody,
  SandboxRefundBody,
  SandboxReverseBody,
  SandboxShipBody,
} from './card-network-schemas.ts'

type Made = CardMessageContent | Refusal

/** Derives missing ids from the message id, so that a repeated message has the same ones. */
const derivedId = (kind: string, { messageId }: NetworkMessageContext): string => `${kind}_of_${messageId}`

const named = ({ authorizationId }: NetworkMessageContext): string => authorizationId as string

interface GivenMerchant {
  readonly merchant?: string | undefined
  readonly mcc?: string | null | undefined
  readonly city?: string | null | undefined
  readonly country?: string | null | undefined
  readonly url?: string | null | undefined
}

function merchantOf(
  given: GivenMerchant,
  { authorization, networkTokenId }: NetworkMessageContext,
  { refuse }: SandboxNetworkContext,
): CardMerchant | Refusal {
  const descriptor = given.merchant ?? authorization?.descriptor
  if (descriptor === undefined) return refuse('merchant_unnamed')
  const { mcc = authorization?.mcc ?? null, country = authorization?.country ?? null } = given
  const { city = null, url = null } = given
  return { descriptor, mcc, city, country, url, networkTokenId }
}

const withMerchant = (
  body: GivenMerchant,
  known: NetworkMessageContext,
  context: SandboxNetworkContext,
  content: (merchant: CardMerchant) => Made,
): Made => {
  const merchant = merchantOf(body, known, context)
  return merchant instanceof Refusal ? merchant : content(merchant)
}

export const authorizationContent = (
  body: z.output<typeof SandboxAuthorizeBody>,
  known: NetworkMessageContext,
  context: SandboxNetworkContext,
): Made =>
  withMerchant(body, known, context, merchant => ({
    kind: 'authorization',
    authorizationId: known.authorizationId ?? derivedId('auth', known),
    ask: 0,
    amountCents: body.amountCents,
    partialAllowed: body.partialAllowed,
    merchant,
    original: body.original,
  }))

export const incrementContent = (
  body: z.output<typeof SandboxIncrementBody>,
  known: NetworkMessageContext,
  context: SandboxNetworkContext,
): Made =>
  withMerchant(body, known, context, merchant => ({
    kind: 'authorization',
    authorizationId: named(known),
    ask: body.ask ?? nextIncrement(known),
    amountCents: body.amountCents,
    partialAllowed: body.partialAllowed,
    merchant,
    original: body.original,
  }))

const nextIncrement = ({ authorization }: NetworkMessageContext): number =>
  Math.max(
    0,
    ...(authorization ? decodeAuthRequests(authorization.facts) : []).map(({ increment }) => increment),
  ) + 1

export const reversalContent = (
  { amountCents }: z.output<typeof SandboxReverseBody>,
  known: NetworkMessageContext,
): Made => ({
  kind: 'reversal',
  authorizationId: named(known),
  amountCents,
})

export const voidContent = (
  _: z.output<typeof SandboxAuthorizationBody>,
  known: NetworkMessageContext,
): Made => ({
  kind: 'reversal',
  authorizationId: named(known),
  amountCents: null,
})

export const expiryContent = (
  _: z.output<typeof SandboxAuthorizationBody>,
  known: NetworkMessageContext,
): Made => ({
  kind: 'expiry',
  authorizationId: named(known),
})

export function clearingContent(
  body: z.output<typeof SandboxClearBody>,
  known: NetworkMessageContext,
  context: SandboxNetworkContext,
): Made {
  const { approvedCents = NO_CENTS, clearedCents = NO_CENTS } = known.authorization ?? {}
  const amountCents = body.amountCents ?? subtractCents(approvedCents, clearedCents)
  if (amountCents <= 0n) return context.refuse('nothing_left')
  return withMerchant(body, known, context, merchant => ({
    kind: 'clearing',
    clearingId: body.clearingId ?? derivedId('clearing', known),
    authorizationId: known.authorizationId ?? null,
    amountCents,
    final: body.final,
    merchant,
    original: body.original,
  }))
}

export const refundContent = (
  body: z.output<typeof SandboxRefundBody>,
  known: NetworkMessageContext,
  context: SandboxNetworkContext,
): Made =>
  withMerchant(body, known, context, merchant => ({
    kind: 'refund',
    refundId: body.refundId ?? derivedId('refund', known),
    authorizationId: known.authorizationId ?? null,
    amountCents: body.amountCents,
    merchant,
    original: body.original,
  }))

export const shippingContent = ({ carrier, trackingNumber }: z.output<typeof SandboxShipBody>): Made => ({
  kind: 'shipped',
  carrier,
  trackingNumber,
})

export const mobileWalletContent = (
  body: z.output<typeof MobileWalletBody>,
  known: NetworkMessageContext,
): Made => ({
  kind: 'mobile_wallet',
  tokenId: body.tokenId ?? derivedId('token', known),
  wallet: body.wallet,
  status: body.status,
})

export const disputeDecisionContent = ({
  disputeId,
  says,
  amountCents,
}: z.output<typeof SandboxDisputeBody>): Made => ({
  kind: 'dispute',
  disputeId,
  says,
  amountCents: says === 'lost' ? null : (amountCents ?? null),
})

import { hash } from 'node:crypto'
import type {
  AcceptedToken,
  Acquirer,
  AcquirerCall,
  AcquirerChargeOrder,
  ChargeOutcome,
  RefusedToken,
} from '../../ports/acquirer.ts'
import {
  type CardMerchant,
  type CardMessageContent,
  type CardProcessor,
  type CardReply,
  declineOutcome,
  type SharedTokenOrder,
} from '../../ports/card-processor.ts'
import { clock } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import {
  decryptCryptogram,
  type ProcessorSecrets,
  sandboxCardById,
  sandboxSharedTokenById,
  sandboxTokenById,
} from '../card-processor/sandbox-numbers.ts'
import type { DeliverMessage } from '../card-processor/sandbox-refunds.ts'
import { acceptTestToken, type CardToken, parseCardToken, testTokenByHandle } from './test-tokens.ts'

interface SandboxNetwork {
  readonly processor: Pick<CardProcessor, 'sign' | 'replyIn'>
  readonly deliver: DeliverMessage
}

/** A constant time makes repeated messages byte-identical, so that the service recognizes the repetition. */
const SENT_AT = new Date(0)

const idOf = (...parts: readonly string[]): string =>
  `acquirer_${hash('sha256', JSON.stringify(parts), 'base64url')}`

/** The card network knows no shared payment tokens: it sees a payment by the card. */
interface PayingCard {
  readonly processorCardId: string
  readonly tokenId: string | null
}

const merchantOf = ({ descriptor }: AcquirerChargeOrder, { tokenId }: PayingCard): CardMerchant => ({
  descriptor: truncateText(descriptor),
  mcc: null,
  city: null,
  country: null,
  url: null,
  networkTokenId: tokenId,
})

/**
 * The issuer authorizes the amount, then gets the clearing. A repetition changes nothing and returns the outcome. A late
 * answer counts as a decline once that is reported.
 */
async function chargeByNetwork(
  network: SandboxNetwork,
  token: PayingCard,
  charge: AcquirerChargeOrder,
  call: AcquirerCall,
): Promise<ChargeOutcome> {
  const authorizationId = idOf(charge.reference)
  const shared = { authorizationId, amountCents: charge.amountCents, merchant: merchantOf(charge, token) }
  const send = (id: string, content: CardMessageContent) =>
    deliverMessage(network, token, { id, content }, call)
  const asked = { kind: 'authorization', ask: 0, partialAllowed: false, ...shared } as const
  const answer = await send(idOf(charge.reference, 'authorization'), asked)
  if (answer?.kind === 'declined') {
    const isKnown = !answer.isLate || (await send(idOf(charge.reference, 'outcome'), declineOutcome(asked)))
    return isKnown ? { outcome: 'declined', code: 'declined', reason: answer.reason } : { outcome: 'late' }
  }
  if (answer?.kind !== 'approved') return { outcome: 'late' }
  const clearingId = idOf(charge.reference, 'clearing')
  const cleared = await send(clearingId, { kind: 'clearing', clearingId, final: true, ...shared })
  return { outcome: cleared ? 'approved' : 'late' }
}

async function refundByNetwork(
  network: SandboxNetwork,
  token: PayingCard,
  refund: AcquirerChargeOrder & { readonly refundReference: string },
  call: AcquirerCall,
): Promise<ChargeOutcome> {
  const { reference, refundReference, amountCents } = refund
  const refundId = idOf(reference, 'refund', refundReference)
  const content = {
    kind: 'refund',
    refundId,
    authorizationId: idOf(reference),
    amountCents,
    merchant: merchantOf(refund, token),
  } as const
  return {
    outcome: (await deliverMessage(network, token, { id: refundId, content }, call)) ? 'approved' : 'late',
  }
}

async function deliverMessage(
  { processor, deliver }: SandboxNetwork,
  { processorCardId }: PayingCard,
  { id, content }: { readonly id: string; readonly content: CardMessageContent },
  { requestId }: AcquirerCall,
): Promise<CardReply | undefined> {
  const { sign, replyIn } = processor
  if (!sign || !replyIn) throw new Error('the processor of test mode signs messages and reads their answers')
  const answer = await deliver(sign({ id, processorCardId, sentAt: SENT_AT, content }), requestId)
  return answer ? replyIn(answer) : undefined
}

const UNKNOWN: RefusedToken = {
  refused: 'The sandbox accepts only tokens of its own cards and documented test tokens.',
}

const NOT_THIS: ChargeOutcome = {
  outcome: 'declined',
  code: 'other_token',
  reason: 'The token is not the one that was accepted for this charge.',
}

const NOT_CHARGED: ChargeOutcome = {
  outcome: 'declined',
  code: 'not_charged',
  reason: 'Nothing was charged that could be refunded.',
}

/**
 * A simulated acquirer, which stores nothing. It charges the sandbox's own cards by messages to their issuer,
 * as the card network would, and answers for test tokens by a table.
 */
export function sandboxAcquirer(secrets: ProcessorSecrets, network: SandboxNetwork): Acquirer {
  const accept = (token: unknown) =>
    typeof token === 'string' ? acceptShared(secrets, token) : acceptedBy(secrets, token)
  const chargeOwn = (
    charge: AcquirerChargeOrder,
    call: Parameters<Acquirer['charge']>[1],
  ): Promise<ChargeOutcome> => chargeByNetwork(network, payingCardOf(secrets, charge.handle), charge, call)
  return {
    name: 'sandbox',
    networks: ['visa', 'mastercard'],
    sharedTokens: {
      networkId: SELLER,
      paymentMethodTypes: ['card'],
      leastCents: LEAST_CENTS,
      accept: spt => acceptShared(secrets, spt),
    },
    accept,
    async charge({ token, ...charge }, call) {
      const accepted = accept(token)
      if (!('handle' in accepted) || accepted.handle !== charge.handle) return NOT_THIS
      const order = sandboxSharedTokenById(secrets, charge.handle)
      const problem = order && sharedTokenProblem(order, charge)
      if (problem) return problem
      return testTokenByHandle(charge.handle, call.now)?.charged ?? chargeOwn(charge, call)
    },
    stateOf: async (charge, call) =>
      testTokenByHandle(charge.handle, call.now)?.known ?? chargeOwn(charge, call),
    async refund(refund, call) {
      const test = testTokenByHandle(refund.handle, call.now)
      if (test) return test.known.outcome === 'declined' ? NOT_CHARGED : test.known
      return refundByNetwork(network, payingCardOf(secrets, refund.handle), refund, call)
    },
    returnsOf: async () => ({ refunds: [], chargebacks: [] }),
    returnsSince: null,
    notices: null,
  }
}

function acceptedBy(secrets: ProcessorSecrets, plain: unknown): AcceptedToken | RefusedToken {
  const token = parseCardToken(plain)
  if ('refused' in token) return token
  return acceptTestToken(token) ?? acceptOwn(secrets, token) ?? UNKNOWN
}

const OWN = /^sandbox (?<processorCardId>\S+) (?<tokenId>\S+)$/

/** The number and the cryptogram must be of one token, on a card of the sandbox. */
function acceptOwn(secrets: ProcessorSecrets, { number, cryptogram }: CardToken): AcceptedToken | null {
  const names = decryptCryptogram(secrets, cryptogram)
  if (!names || !sandboxCardById(secrets, names.processorCardId)) return null
  if (sandboxTokenById(secrets, names.tokenId)?.number !== number) return null
  const { processorCardId, tokenId } = names
  return { handle: `sandbox ${processorCardId} ${tokenId}`, network: 'visa', last4: number.slice(-4) }
}

/** Every seller in the sandbox has this Stripe profile. */
const SELLER = 'profile_test_sandbox'
const LEAST_CENTS = cents(50n)

/** The token is its own handle: it can be charged by its seller alone, which is this acquirer. */
function acceptShared(secrets: ProcessorSecrets, spt: string): AcceptedToken | RefusedToken {
  const order = sandboxSharedTokenById(secrets, spt)
  if (order?.seller !== SELLER)
    return { refused: 'The sandbox accepts only shared payment tokens of its own cards for its own sellers.' }
  return { handle: spt, network: 'stripe', last4: null }
}

function sharedTokenProblem(
  { amount, currency, expiresAt }: SharedTokenOrder,
  { amountCents }: AcquirerChargeOrder,
): ChargeOutcome | null {
  if (currency !== 'eur' || amountCents > BigInt(amount))
    return { outcome: 'declined', code: 'above_limit', reason: 'The token does not cover this amount.' }
  if (Date.parse(expiresAt) > clock.real().getTime()) return null
  return { outcome: 'declined', code: 'expired_token', reason: 'The token has expired.' }
}

function payingCardOf(secrets: ProcessorSecrets, handle: string): PayingCard {
  const order = sandboxSharedTokenById(secrets, handle)
  if (order) return { processorCardId: order.processorCardId, tokenId: null }
  const { processorCardId, tokenId } = OWN.exec(handle)?.groups ?? {}
  if (!processorCardId || !tokenId) throw new Error('a handle that the sandbox has not given')
  return { processorCardId, tokenId }
}

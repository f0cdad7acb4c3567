import { createHmac, timingSafeEqual } from 'node:crypto'
import type { CardMessage, CardProcessor, CardReply, ProcessorAnswer } from '../../ports/card-processor.ts'
import { minutes } from '../../values/clock.ts'
import { approvedCentsMetadataKey } from './authorizations.ts'
import { changeStripeCardState, issueStripeCard, replaceStripeCard } from './cards.ts'
import { STRIPE_API_VERSION, STRIPE_TIMEOUTS, type StripeAccount, stripeCaller } from './connection.ts'
import { changeStripeCardControls } from './controls.ts'
import { createEphemeralKey, discloseStripeCard } from './disclosure.ts'
import { stripeDisputes } from './disputes.ts'
import { translateStripeEvent } from './messages.ts'
import { stripeSharedTokens } from './shared-tokens.ts'

/** Stripe Issuing has no network tokens, and only Stripe can sign its messages. */
export function stripeIssuing(account: StripeAccount, patience = STRIPE_TIMEOUTS): CardProcessor {
  const ask = stripeCaller(account, patience)
  return {
    name: 'stripe',
    issue: (card, call) => ask(stripe => issueStripeCard(stripe, card, call)),
    setState: (id, state, call) => ask(stripe => changeStripeCardState(stripe, id, state, call)),
    setControls: (id, controls, call) => ask(stripe => changeStripeCardControls(stripe, id, controls, call)),
    replace: (id, card, call) => ask(stripe => replaceStripeCard(stripe, id, card, call)),
    disclose: (id, recipient) => ask(stripe => discloseStripeCard(stripe, id, recipient)),
    ephemeralKey: (id, nonce, call) => ask(stripe => createEphemeralKey(stripe, id, nonce, call)),
    tokenNetworks: null,
    networkToken: null,
    setNetworkToken: null,
    sharedTokens: stripeSharedTokens(ask),
    // Stripe Issuing only reports refunds: the owner asks the merchant.
    pushRefund: null,
    disputes: stripeDisputes(ask),
    recognizes: headers => headers['stripe-signature'] !== undefined,
    read(body, headers, now) {
      const reason = wrongSignature(body, headers['stripe-signature'], account.webhookSecrets, now)
      return reason === null ? translateStripeEvent(body) : { kind: 'unsigned', reason }
    },
    answer,
    sign: null,
    replyIn: null,
  }
}

/** Stripe reads the answer to a request by the version in the header; of other answers only the status. */
const answer = (message: CardMessage, reply: CardReply): ProcessorAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'stripe-version': STRIPE_API_VERSION },
  body: JSON.stringify(bodyOf(message, reply)),
})

function bodyOf({ content }: CardMessage, reply: CardReply): object {
  if (content.kind !== 'authorization') return { received: true }
  if (reply.kind !== 'approved') return { approved: false }
  const { approvedCents, askedCents } = reply
  if (approvedCents >= askedCents) return { approved: true }
  const metadata = { [approvedCentsMetadataKey(content.ask)]: String(approvedCents) }
  return { approved: true, amount: Number(approvedCents), metadata }
}

const TOLERANCE_MS = minutes(5)
/** While secrets are rotated, Stripe sends one signature per valid secret. */
const MOST_SIGNATURES = 10

/**
 * Checks `t=<seconds>,v1=<hex>,…`: HMAC-SHA256 over the time, a dot, and the raw body, with one of the
 * secrets. Returns what is wrong.
 */
function wrongSignature(
  body: Uint8Array,
  header: string | undefined,
  secrets: readonly string[],
  now: Date,
): string | null {
  if (!header) return 'Stripe-Signature is missing.'
  const { time, signatures } = partsOf(header)
  if (time === undefined || signatures.length === 0) return 'Stripe-Signature has no time or no v1 signature.'
  const expected = secrets.map(secret =>
    createHmac('sha256', secret).update(`${time}.`).update(body).digest(),
  )
  if (!signatures.some(given => expected.some(one => isEqual(given, one))))
    return 'No signature was made with a webhook secret of this service.'
  const age = now.getTime() - Number(time) * 1000
  return Math.abs(age) > TOLERANCE_MS ? 'The signature is older or newer than five minutes.' : null
}

function partsOf(header: string): { time: string | undefined; signatures: Buffer[] } {
  const parts = header.split(',').map(part => part.trim().split('='))
  const time = parts.find(([name, value]) => name === 't' && /^\d{1,12}$/.test(value ?? ''))?.[1]
  const given = parts.flatMap(([name, value = '']) =>
    name === 'v1' && /^[\da-f]{64}$/i.test(value) ? [value] : [],
  )
  return { time, signatures: given.slice(0, MOST_SIGNATURES).map(hex => Buffer.from(hex, 'hex')) }
}

const isEqual = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)

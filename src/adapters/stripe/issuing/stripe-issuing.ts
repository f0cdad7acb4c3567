import type { CardMessage, CardProcessor, CardReply, ProcessorAnswer } from '../../../ports/card-processor.ts'
import { approvedCentsMetadataKey } from './authorizations.ts'
import { changeStripeCardState, issueStripeCard, replaceStripeCard } from './cards.ts'
import { STRIPE_API_VERSION, STRIPE_TIMEOUTS, type StripeAccount, stripeCaller } from './connection.ts'
import { changeStripeCardControls } from './controls.ts'
import { createEphemeralKey, discloseStripeCard } from './disclosure.ts'
import { stripeDisputes } from './disputes.ts'
import { translateStripeEvent } from './messages.ts'
import { stripeSharedTokens } from './shared-tokens.ts'
import { stripeSignatureProblem } from './signature.ts'

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
      const reason = stripeSignatureProblem(body, headers['stripe-signature'], account.webhookSecrets, now)
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

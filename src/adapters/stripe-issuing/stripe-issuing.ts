import type { CardMessage, CardProcessor, CardReply, ProcessorAnswer } from '../../ports/card-processor.ts'
import { API_VERSION, PATIENCE, type StripeAccount } from './account.ts'
import { partOf } from './authorizations.ts'
import { changeState, issueCard, replaceCard } from './cards.ts'
import { connectTo } from './connection.ts'
import { changeControls } from './controls.ts'
import { discloseCard, ephemeralKey } from './disclosure.ts'
import { stripeDisputes } from './disputes.ts'
import { translate } from './messages.ts'
import { wrongSignature } from './signature.ts'

/** Stripe Issuing. It gives no network tokens, and its messages are signed by Stripe alone. */
export function stripeIssuing(account: StripeAccount, patience = PATIENCE): CardProcessor {
  const ask = connectTo(account, patience)
  return {
    name: 'stripe',
    issue: (card, call) => ask(stripe => issueCard(stripe, card, call)),
    setState: (id, state, call) => ask(stripe => changeState(stripe, id, state, call)),
    setControls: (id, controls, call) => ask(stripe => changeControls(stripe, id, controls, call)),
    replace: (id, card, call) => ask(stripe => replaceCard(stripe, id, card, call)),
    disclose: (id, recipient) => ask(stripe => discloseCard(stripe, id, recipient)),
    ephemeralKey: (id, nonce, call) => ask(stripe => ephemeralKey(stripe, id, nonce, call)),
    tokenNetworks: null,
    networkToken: null,
    setNetworkToken: null,
    // Stripe Issuing only tells of refunds: merchants are asked by the owner.
    pushRefund: null,
    disputes: stripeDisputes(ask),
    recognizes: headers => headers['stripe-signature'] !== undefined,
    read(body, headers, now) {
      const reason = wrongSignature(body, headers['stripe-signature'], account.webhookSecrets, now)
      return reason === null ? translate(body) : { kind: 'unsigned', reason }
    },
    answer,
    sign: null,
    replyIn: null,
  }
}

/** Stripe reads the answer to a request by the version in the header; of other answers only the status. */
const answer = (message: CardMessage, reply: CardReply): ProcessorAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'stripe-version': API_VERSION },
  body: JSON.stringify(bodyOf(message, reply)),
})

function bodyOf({ content }: CardMessage, reply: CardReply): object {
  if (content.kind !== 'authorization') return { received: true }
  if (reply.kind !== 'approved') return { approved: false }
  const { approvedEuros, askedEuros } = reply
  if (approvedEuros >= askedEuros) return { approved: true }
  const metadata = { [partOf(content.ask)]: String(approvedEuros) }
  return { approved: true, amount: Number(approvedEuros), metadata }
}

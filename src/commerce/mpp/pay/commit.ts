import { type mppTokenEvents, registerMppToken } from '../../../cards/agent-credentials/index.ts'
import {
  agentLanes,
  type BegunPayment,
  type CardBatch,
  decideTokenPayment,
  loadTokenPayments,
  type TokenPayment,
  type tokenPaymentEvents,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import {
  type BatchedStep,
  CallExternal,
  type CallResult,
  type Item,
  type Verdict,
} from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
import { hasCardNumber } from '../../../values/card-number.ts'
import { after } from '../../../values/clock.ts'
import { excerpt } from '../../../values/schemas.ts'
import {
  MppCredential,
  mppCredentialMachine,
  OPEN_FOR_MS,
  SENT_GRACE_MS,
  type senders,
} from '../credential.ts'
import { credentialEvent } from '../events.ts'
import { merchantOf, plainHost } from '../hosts.ts'
import { requestDigest, shownUrl } from '../merchant-request.ts'
import { mppProcess } from '../process.ts'
import { rulesOnIntents } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import { mintRefusals, offerRefusals } from '../refusals.ts'
import type { mintEvents } from '../schemas.ts'
import { payeeProblem } from './address.ts'
import type { Minted } from './ask.ts'
import {
  type Asking,
  type GivingBack,
  isProblem,
  type PayProblem,
  type PayProblemCode,
} from './reservation.ts'

type Sender = (typeof senders)[number]

/**
 * How long payments wait for an agent that somebody else has locked: their tokens are minted, or have left. Earlier batches
 * of the same agents are no reason to look for whoever holds them.
 */
export const WAITS = { sharedTimeoutMs: 500, ownTimeoutMs: 3_000 }

/** An offer that can be paid, and for whom it was asked for. */
export type MintedOffer = CallResult<Asking, Minted>

interface State {
  readonly batch: CardBatch
  readonly rules: readonly ProtectRule[]
  readonly records: Records
  readonly ports: Ports
}

/** The means of one payment of the batch. */
type MintContext = Item<MintedOffer> &
  Verdict<PayProblemCode, MintingEvents> &
  Pick<State, 'records' | 'ports'>
type MintingEvents = typeof tokenPaymentEvents & typeof mppTokenEvents & typeof mintEvents

/**
 * Decides with everything locked, begins the intent's payment, and puts the credential on record: all before a byte of it
 * leaves. Where something has changed since the merchant was asked, the token is given back.
 */
export const mintStep = <R>(
  sentBy: Sender,
  then: (credential: MppCredential, minted: MintedOffer, begun: BegunPayment) => R,
): BatchedStep<MintedOffer, R | CallExternal<GivingBack>, PayProblemCode, MintingEvents, State> => ({
  name: 'mint',
  lanes: agentLanes(({ reservation }) => reservation.subject.agentId, WAITS),

  async load(items, sql, ports) {
    const { tenant, now } = items[0] as Item<MintedOffer>
    const records = tenantRecords(sql, { tenant, now })
    const payments = items.map(({ input }) => paymentOf(input))
    const intentIds = payments.map(({ intentId }) => intentId)
    const [batch, rules] = await Promise.all([
      loadTokenPayments(sql, { tenant, now }, { payments }),
      rulesOnIntents(intentIds, { records, tenant }),
    ])
    return { batch, rules, records, ports }
  },

  decide(item, state, verdict) {
    const { records, ports } = state
    const context = { ...item, ...verdict, records, ports }
    const decided = decide(item.input, state, context)
    if (isProblem(decided)) return new CallExternal(givenBack(item.input, decided))
    return then(put(item.input, sentBy, context), item.input, decided)
  },

  async write({ batch, records }, sql) {
    await Promise.all([writeCardBatch(batch, sql), records.flush()])
  },
})

function decide(
  offered: MintedOffer,
  { batch, rules }: State,
  context: MintContext,
): PayProblem | BegunPayment {
  const { answer: minted, reservation: asking } = offered
  const payment = paymentOf(offered)
  const { agentId, intentMerchant } = asking.subject
  const url = new URL(asking.request.url)
  const changed = payeeProblem(url, { agentId, merchant: intentMerchant }, rules)
  if (changed) return changed
  if (!minted.offer.card.acceptedNetworks.includes(minted.issued.network))
    return { code: 'network_not_accepted', message: offerRefusals.network_not_accepted[1] }
  const decided = decideTokenPayment(payment, batch, context)
  if (decided.blocker !== null) return blocked(decided.blocker, decided.message)
  const { authorizationId: id, decision } = decided
  if (id !== null) return { id, agentId, cardId: payment.cardId }
  return { code: 'payment_denied', message: decision.reason ?? mintRefusals.payment_denied[1] }
}

const all = { ...mintRefusals, ...offerRefusals }

const blocked = (code: keyof typeof all, message: string = all[code][1]): PayProblem => ({ code, message })

function paymentOf({
  answer: { offer, issued },
  reservation: { subject, request },
}: MintedOffer): TokenPayment {
  const url = new URL(request.url)
  return {
    mppCredentialId: subject.credentialId,
    tokenId: issued.tokenId,
    agentId: subject.agentId,
    intentId: subject.intentId,
    cardId: subject.cardId,
    numberId: subject.numberId,
    amountEuros: offer.charge.amount,
    host: plainHost(url),
    url: shownUrl(url),
  }
}

const givenBack = (
  { answer: { issued }, reservation: { subject } }: MintedOffer,
  problem: PayProblem,
): GivingBack => ({
  stage: 'give back',
  credentialId: subject.credentialId,
  mode: subject.mode,
  tokenId: issued.tokenId,
  now: subject.now,
  problem,
})

/** Puts token and credential on record, and starts the process that looks after what is left of them. */
function put(
  { answer: minted, reservation: asking }: MintedOffer,
  sentBy: Sender,
  context: MintContext,
): MppCredential {
  const { records, emit } = context
  const { offer, issued } = minted
  const { subject } = asking
  const { credentialId, agentId, delegationId, intentId, cardId } = subject
  const amountEuros = offer.charge.amount
  const token = registerMppToken(
    {
      mppCredentialId: credentialId,
      agentId,
      delegationId,
      intentId,
      cardId,
      amountEuros,
      merchantHost: plainHost(new URL(asking.request.url)),
      keyThumbprint: minted.keyThumbprint,
      expiresAt: minted.expiresAt,
      processor: context.ports.cardProcessor(subject.mode).name,
      issued,
    },
    context,
  )
  const credential = records.create(MppCredential, {
    id: credentialId,
    agentId,
    delegationId,
    intentId,
    cardId,
    amountEuros,
    agentCredentialId: token.id,
    sentBy,
    ...tracesOf(minted, asking),
  })
  emit('mpp.credential.minted', credentialEvent(credential))
  begin(credential, context)
  return credential
}

function tracesOf({ offer, issued, digest }: Minted, { request, subject }: Asking) {
  const url = new URL(request.url)
  return {
    merchant: merchantOf(url),
    merchantName: hasCardNumber(offer.card.merchantName) ? null : excerpt(offer.card.merchantName),
    url: shownUrl(url),
    method: request.method,
    network: issued.network,
    challengeId: offer.challenge.id,
    challenge: offer.challenge,
    requestDigest: requestDigest(request),
    credentialDigest: digest,
    askedAt: new Date(subject.now),
  }
}

/** A credential that the service sends counts as sent from here on: whoever comes after a crash cannot know better. */
function begin(credential: MppCredential, { now, wake, ports }: MintContext): void {
  const isSent = credential.sentBy === 'service'
  if (isSent) mppCredentialMachine.move(credential, 'sent')
  credential.sentAt = isSent ? now : null
  credential.dueAt = after(now, isSent ? SENT_GRACE_MS : OPEN_FOR_MS)
  if (isSent && ports.mppRuns === 'open') return
  credential.workflowId = workflowIdOf(mppProcess, credential.id)
  wake(mppProcess, credential)
}

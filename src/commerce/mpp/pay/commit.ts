import { type mppTokenEvents, registerMppToken } from '../../../cards/agent-credentials/index.ts'
import {
  agentLanes,
  type BegunPayment,
  type CardBatch,
  decideTokenPayment,
  loadTokenPayments,
  type tokenPaymentEvents,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import { type BatchedStep, CallExternal, type Item, type Verdict } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
import { hasCardNumber } from '../../../values/card-number.ts'
import { after } from '../../../values/clock.ts'
import { excerpt } from '../../../values/schemas.ts'
import {
  credentialEvent,
  MppCredential,
  mppCredentialMachine,
  OPEN_FOR_MS,
  SENT_GRACE_MS,
  type senders,
} from '../credential.ts'
import { merchantOf } from '../hosts.ts'
import { requestDigest } from '../merchant-request.ts'
import { mppProcess } from '../process.ts'
import { rulesOnIntents } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import { mintRefusals, offerRefusals } from '../refusals.ts'
import type { mintEvents } from '../schemas.ts'
import type { Minted } from './mint.ts'
import {
  type GivingBack,
  givingBack,
  isProblem,
  type PayProblem,
  type PayProblemCode,
} from './reservation.ts'
import { payeeProblem } from './reserve.ts'

type Sender = (typeof senders)[number]

/**
 * How long payments wait for an agent that somebody else has locked: their tokens are minted, or have left. Earlier batches
 * of the same agents are no reason to look for whoever holds them.
 */
export const WAITS = { sharedTimeoutMs: 500, ownTimeoutMs: 3_000 }

interface State {
  readonly batch: CardBatch
  readonly rules: readonly ProtectRule[]
  readonly records: Records
  readonly ports: Ports
}

/** The means of one payment of the batch. */
type MintContext = Item<Minted> & Verdict<PayProblemCode, MintingEvents> & Pick<State, 'records' | 'ports'>
type MintingEvents = typeof tokenPaymentEvents & typeof mppTokenEvents & typeof mintEvents

/**
 * Decides with everything locked, begins the intent's payment, and puts the credential on record: all before a byte of it
 * leaves. Where something has changed since the merchant was asked, the token is given back.
 */
export const mintStep = <R>(
  sentBy: Sender,
  then: (minted: Minted, begun: BegunPayment, credential: MppCredential) => R,
): BatchedStep<Minted, R | CallExternal<GivingBack>, PayProblemCode, MintingEvents, State> => ({
  name: 'mint',
  lanes: agentLanes(({ payment }) => payment.agentId, WAITS),

  async load(items, sql, ports) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const payments = items.map(({ input }) => input.payment)
    const intentIds = payments.map(({ intentId }) => intentId)
    const [batch, rules] = await Promise.all([
      loadTokenPayments(sql, { tenant, now }, { payments }),
      rulesOnIntents(intentIds, { records, tenant }),
    ])
    return { batch, rules, records, ports }
  },

  decide(item, state, verdict) {
    const { input: minted } = item
    const { records, ports } = state
    const context = { ...item, ...verdict, records, ports }
    const decided = begin(minted, sentBy, state, context)
    if (isProblem(decided)) return new CallExternal(givingBack(minted.payment, decided))
    return then(minted, decided.begun, decided.credential)
  },

  async write({ batch, records }, sql) {
    await Promise.all([writeCardBatch(batch, sql), records.flush()])
  },
})

interface Begun {
  readonly begun: BegunPayment
  /** On record with its token. */
  readonly credential: MppCredential
}

function begin(
  minted: Minted,
  sentBy: Sender,
  { batch, rules }: State,
  context: MintContext,
): Begun | PayProblem {
  const { payment, issued } = minted
  const problem = changedSince(minted, rules)
  if (problem) return problem
  const decided = decideTokenPayment(payment, batch, context)
  if (decided.blocker !== null) return blocked(decided.blocker, decided.message)
  const { authorizationId, decision } = decided
  if (authorizationId === null) return blocked('payment_denied', decision.reason ?? undefined)
  const { mppCredentialId, agentId, delegationId, intentId, cardId, amountEuros } = payment
  const members = { agentId, delegationId, intentId, cardId, amountEuros }
  const { keyThumbprint, expiresAt } = minted
  const processor = context.ports.cardProcessor(payment.mode).name
  const token = registerMppToken(
    { ...members, mppCredentialId, merchantHost: payment.host, keyThumbprint, expiresAt, processor, issued },
    context,
  )
  const credential = context.records.create(MppCredential, {
    ...members,
    ...tracesOf(minted),
    id: mppCredentialId,
    agentCredentialId: token.id,
    sentBy,
  })
  context.emit('mpp.credential.minted', credentialEvent(credential))
  follow(credential, context)
  return { begun: { id: authorizationId, agentId, cardId }, credential }
}

/** What has changed since the merchant was asked. */
function changedSince(
  { payment, offer, issued }: Minted,
  rules: readonly ProtectRule[],
): PayProblem | undefined {
  const { agentId, intentMerchant: merchant, request } = payment
  const changed = payeeProblem(new URL(request.url), { agentId, merchant }, rules)
  if (changed) return changed
  return offer.card.acceptedNetworks.includes(issued.network) ? undefined : blocked('network_not_accepted')
}

const all = { ...mintRefusals, ...offerRefusals }

const blocked = (code: keyof typeof all, message: string = all[code][1]): PayProblem => ({ code, message })

function tracesOf({ offer, issued, digest, payment: { request, url, askedAt } }: Minted) {
  return {
    merchant: merchantOf(new URL(request.url)),
    merchantName: hasCardNumber(offer.card.merchantName) ? null : excerpt(offer.card.merchantName),
    url,
    method: request.method,
    network: issued.network,
    challengeId: offer.challenge.id,
    challenge: offer.challenge,
    requestDigest: requestDigest(request),
    credentialDigest: digest,
    askedAt,
  }
}

/**
 * Starts the process that looks after what is left of a credential. One that the service sends counts as sent from here on:
 * whoever comes after a crash cannot know better.
 */
function follow(credential: MppCredential, { now, wake, ports }: MintContext): void {
  const isSent = credential.sentBy === 'service'
  if (isSent) mppCredentialMachine.move(credential, 'sent')
  credential.sentAt = isSent ? now : null
  credential.dueAt = after(now, isSent ? SENT_GRACE_MS : OPEN_FOR_MS)
  if (isSent && ports.mppRuns === 'open') return
  credential.workflowId = workflowIdOf(mppProcess, credential.id)
  wake(mppProcess, credential)
}

import { hash } from 'node:crypto'
import {
  AgentCredential,
  activateMppToken,
  mppTokenEvents,
  registerMppToken,
} from '../../../cards/agent-credentials/index.ts'
import {
  type CardBatch,
  decideTokenPayment,
  loadTokenPayments,
  startedTokenPayments,
  type TokenPayment,
  tokenPaymentEvents,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import { agentLanes, machinePaymentTermsOfIntents } from '../../../control/intents/index.ts'
import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { EmitContext, WriteContext } from '../../../kernel/contract/context.ts'
import type { EntityManager } from '../../../kernel/contract/entity-manager.ts'
import type { BatchItem } from '../../../kernel/contract/handlers.ts'
import type { Ports, RunningService, Systems } from '../../../kernel/contract/ports.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import { FOR_UPDATE_BY_ID } from '../../../kernel/database/entity.ts'
import { tenantEntityManager } from '../../../kernel/database/orm.ts'
import type { StepBatch } from '../../../kernel/run/steps.ts'
import {
  credentialDigest,
  credentialHeaderOf,
  type JsonObject,
  serializeCredential,
  stripePayload,
} from '../../../mpp/index.ts'
import {
  type CardProcessor,
  type IssuedNetworkToken,
  isProcessorFailure,
  type ProcessorCall,
  type ProcessorFailure,
  type SharedToken,
  type SharedTokenAction,
  type SharedTokenOrder,
} from '../../../ports/card-processor.ts'
import { hasCardNumber } from '../../../values/card-number.ts'
import { addMs, clock, days, minutes } from '../../../values/clock.ts'
import { parseEncryptionKey } from '../../../values/encryption-key.ts'
import { formatMinute } from '../../../values/minute.ts'
import { truncateText } from '../../../values/schemas.ts'
import { credentialMintEvents, machinePaymentEndEvents, mintRefusals } from '../api.ts'
import {
  INDETERMINATE_TTL_MS,
  isUnshared,
  MppCredential,
  mppCredentialEvent,
  mppCredentialMachine,
  SENT_CREDENTIAL_GRACE_MS,
} from '../credential.ts'
import { merchantHost } from '../hosts.ts'
import { merchantRequestDigest } from '../merchant-request.ts'
import {
  type CardOffer,
  isOffer,
  isPayProblem,
  type MachinePaymentProblem,
  type MerchantOffer,
  readOffer,
  type StripeOffer,
} from '../offers.ts'
import {
  answerLater,
  type LockedMachinePayment,
  lockMachinePayment,
  type MachinePaymentEvents,
} from '../outcome.ts'
import {
  actorOf,
  byId,
  endUnordered,
  isDue,
  MachinePayment,
  type MintedHeader,
  machinePaymentMachine,
  nextStepOf,
  sealMinted,
  waitForMerchant,
} from '../payment.ts'
import { mppProcess } from '../process.ts'
import { protectRulesForIntents } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import type { NextStep } from '../story.ts'
import {
  askMerchant,
  type DecidedPayment,
  fetchMerchantKey,
  findPublished,
  type PricedOffer,
  payableHostProblem,
  publishedProblem,
} from './ask.ts'
import {
  ASKER_NOT_ALLOWED,
  blocked,
  findAllowedAskers,
  findObstacles,
  isToBeDecidedAgain,
  mayStillAsk,
  methodProblem,
} from './look-again.ts'
import {
  AGENT_LOCK_TIMEOUTS,
  type BegunPayment,
  begunIds,
  decidedEarlier,
  markSent,
  type SendablePayment,
  sendable,
  type TokenCall,
} from './send.ts'

interface MintedCredential extends MintedHeader {
  readonly issued: Pick<IssuedNetworkToken, 'tokenId' | 'last4' | 'network'>
  readonly digest: string
}

/** An offer that this payment can pay. A shared payment token is created only once the payment has begun. */
interface PayableOffer {
  readonly payment: DecidedPayment & TokenPayment
  readonly offer: MerchantOffer
  readonly expiresAt: Date
  /** The thumbprint of the merchant's key; for the method `stripe`, a digest of the seller. */
  readonly keyThumbprint: string
  readonly minted: MintedCredential | null
  readonly order: SharedTokenOrder | null
}

/** The token's lifetime. A merchant's later authorizations are declined. */
const TOKEN_MS = days(1)

const PROCESSOR_CODES = {
  late: 'processor_silent',
  unusable: 'processor_unusable',
  refused: 'processor_refused',
} as const

interface MintingContext {
  readonly systems: Systems
  readonly service: Pick<RunningService, 'pageUrl'>
  /** Each attempt has a token of its own: the merchant’s challenge, to which it is bound, is a new one. */
  readonly call: ProcessorCall
}

/**
 * Asks for the offers, chooses the first that can be paid, and mints for the method `card`, without an open
 * transaction. Nothing has been sent yet. The processor encrypts the token to the merchant, so this service
 * cannot read it.
 */
export async function askAndMint(
  payment: DecidedPayment,
  context: MintingContext,
): Promise<PayableOffer | MachinePaymentProblem> {
  const published = await findPublished(payment, context.systems)
  const offer = publishedProblem(published, payment) ?? (await mintOffer(payment, context))
  if (!isPayProblem(offer)) return offer
  // A request that may have an effect is repeated only where the merchant says that it is paid first.
  const mayRepeat = payment.request.method === 'GET' || published.length > 0
  return mayRepeat ? offer : { ...offer, isAway: false }
}

async function mintOffer(
  payment: DecidedPayment,
  context: MintingContext,
): Promise<PayableOffer | MachinePaymentProblem> {
  const chosen = await askMerchant(payment, context.systems)
  if (isPayProblem(chosen)) return chosen
  const { offer, price } = chosen
  return offer.method === 'card'
    ? mintForCard({ offer, price }, payment, context)
    : orderSharedToken({ offer, price }, payment, context.service)
}

async function mintForCard(
  { offer, price }: PricedOffer<CardOffer>,
  payment: DecidedPayment,
  { systems, call }: MintingContext,
): Promise<PayableOffer | MachinePaymentProblem> {
  const { mode, intentId, cardId, processorCardId, askedAt: now } = payment
  const { networkToken } = systems.cardProcessor(mode)
  const key = await fetchMerchantKey(offer.card, payment, systems)
  if (isPayProblem(key)) return key
  const encryptionKey = parseEncryptionKey({ ...key })
  if ('problem' in encryptionKey || !networkToken)
    throw new Error('a merchant’s key was not checked, or no token')
  const expiresAt = addMs(now, TOKEN_MS)
  const binding = { challengeId: offer.challenge.id, intentId, cardId }
  const issued = await networkToken(
    { processorCardId, expiresAt, form: { kind: 'mpp', kid: key.kid, binding } },
    { key: encryptionKey, intentId, merchantHost: payment.host },
    call,
  )
  if (isProcessorFailure(issued)) {
    const code = PROCESSOR_CODES[issued.failure]
    return { code, message: mintRefusals[code][1] }
  }
  return {
    payment: { ...payment, ...price, tokenId: issued.tokenId },
    offer,
    expiresAt,
    keyThumbprint: encryptionKey.thumbprint,
    minted: { issued, ...credentialOf(offer, cardPayload(issued)) },
    order: null,
  }
}

const HOUR_MS = minutes(60)

/** The token ends with its challenge. Merchants' clocks are real, so its time is real too. */
function orderSharedToken(
  { offer, price }: PricedOffer<StripeOffer>,
  { askedAt, ...payment }: DecidedPayment,
  { pageUrl }: MintingContext['service'],
): PayableOffer {
  const { charge, challenge, stripe } = offer
  const latest = addMs(clock.real(), TOKEN_MS)
  const ends = challenge.expires === undefined ? addMs(clock.real(), HOUR_MS) : new Date(challenge.expires)
  return {
    payment: { ...payment, ...price, askedAt, tokenId: null },
    offer,
    expiresAt: addMs(askedAt, TOKEN_MS),
    keyThumbprint: hash('sha256', stripe.networkId, 'base64url'),
    minted: null,
    order: {
      processorCardId: payment.processorCardId,
      seller: stripe.networkId,
      amount: String(charge.amount),
      currency: charge.currency,
      expiresAt: (ends < latest ? ends : latest).toISOString(),
      returnUrl: pageUrl(`/console/machine-payments/${payment.mppCredentialId}`),
    },
  }
}

const cardPayload = (issued: IssuedNetworkToken): JsonObject => ({
  encryptedPayload: issued.jwe,
  network: issued.network,
  panLastFour: issued.last4,
  panExpirationMonth: String(issued.expMonth).padStart(2, '0'),
  panExpirationYear: String(issued.expYear),
})

function credentialOf({ challenge }: Pick<MerchantOffer, 'challenge'>, payload: JsonObject) {
  const credential = serializeCredential({ challenge, payload })
  return {
    header: credentialHeaderOf(challenge).toLowerCase(),
    credential,
    digest: credentialDigest(credential),
  }
}

export const mintingEvents = {
  ...tokenPaymentEvents,
  ...mppTokenEvents,
  ...credentialMintEvents,
  ...machinePaymentEndEvents,
}

export interface Begun {
  readonly next: NextStep
  /** The token that is not used: a fact has changed since the merchant was asked. */
  readonly unused: string | null
  /** Why it has ended. */
  readonly problem?: MachinePaymentProblem
  /** Its time is over, and nothing was sent. */
  readonly isLate?: boolean
  /** It counts as sent: the caller sends it now. */
  readonly sending?: SendablePayment | undefined
  /** The caller has its token created now. */
  readonly sharing?: TokenCall
}

/** What came of asking: an offer that can be paid, or why not. */
export interface Ordered {
  readonly decided: DecidedPayment
  readonly offer: PayableOffer | MachinePaymentProblem
  /** The lease of a process that sends the credential at once, which saves a commit; null where sending is a step of its own. */
  readonly sender: string | null
}

/** What may have changed since the merchant was asked. */
interface Changes {
  readonly rules: readonly ProtectRule[]
  readonly terms: Awaited<ReturnType<typeof machinePaymentTermsOfIntents>>
  /** The ids of the askers who still may pay. */
  readonly allowed: ReadonlySet<string>
}

interface State extends Changes, Pick<Ports, 'systems' | 'settings'> {
  readonly batch: CardBatch
  readonly em: EntityManager
  readonly payments: ReadonlyMap<string, MachinePayment>
}

const offeredIn = (items: readonly BatchItem<Ordered>[]): DecidedPayment[] =>
  items.flatMap(({ input: { decided, offer } }) => (isPayProblem(offer) ? [] : [decided]))

/**
 * Decides with all rows locked, begins the intent's payment and records the credential, before a byte of it
 * leaves.
 */
export const beginPayment: StepBatch<typeof mintingEvents, Ordered, Begun, State> = {
  name: 'begin',
  lanes: agentLanes(({ decided }) => decided.agentId, AGENT_LOCK_TIMEOUTS),

  async load(items, sql, { systems, settings }) {
    const { tenant, now } = items[0]
    const em = tenantEntityManager(sql, { tenant, now })
    const offered = offeredIn(items)
    const payments = items.flatMap(({ input: { offer } }) => (isPayProblem(offer) ? [] : [offer.payment]))
    const intentIds = offered.map(({ intentId }) => intentId)
    const [batch, rules, terms] = await Promise.all([
      loadTokenPayments(sql, { tenant, now }, { payments }),
      protectRulesForIntents(intentIds, { em, tenant }),
      machinePaymentTermsOfIntents(intentIds, { sql, tenant }),
    ])
    const ids = { $in: items.map(({ input }) => input.decided.mppCredentialId) }
    const [found, allowed] = await Promise.all([
      em.find(MachinePayment, { id: ids }, FOR_UPDATE_BY_ID),
      // Read under the locks: no revocation that came before them is missed.
      findAllowedAskers(
        offered.map(({ asker }) => asker),
        { sql, tenant },
      ),
    ])
    return { batch, rules, terms, allowed, em, payments: byId(found), systems, settings }
  },

  decide(item, state, verdict) {
    const { decided, offer } = item.input
    const payment = state.payments.get(decided.mppCredentialId)
    const unused = isPayProblem(offer) ? null : (offer.minted?.issued.tokenId ?? null)
    if (payment?.status !== 'ordering') return { next: 'wait', unused }
    const context = { ...item, ...verdict, ...state, actor: actorOf(payment, item.tenant) }
    const begun = isPayProblem(offer) ? offer : begin(offer, payment, state, context)
    if (!isPayProblem(begun)) return begun
    const mayWait = payment.isAsync && begun.isAway === true
    const waits = mayWait && waitForMerchant(payment, begun, { ...item, intentEndsAt: decided.intentEndsAt })
    if (waits) return { next: 'wait', unused }
    const problem = withinIntent(begun, decided, item)
    endUnordered(payment, problem, context)
    return { next: 'none', unused, problem }
  },

  async write({ batch, em }, sql) {
    await Promise.all([writeCardBatch(batch, sql), em.flush()])
  },
}

/** A pause that a merchant asks for is never told beyond the end of the intent. */
function withinIntent(
  problem: MachinePaymentProblem,
  { intentEndsAt }: DecidedPayment,
  { now }: Pick<TenantNow, 'now'>,
): MachinePaymentProblem {
  const { retryAfterMs } = problem
  if (retryAfterMs === undefined) return problem
  return { ...problem, retryAfterMs: Math.min(retryAfterMs, intentEndsAt.getTime() - now.getTime()) }
}

type BeginContext = Parameters<typeof registerMppToken>[1] &
  Parameters<typeof decideTokenPayment>[2] &
  Parameters<NonNullable<typeof beginPayment.decide>>[2] &
  Pick<Ports, 'systems' | 'settings'> & { readonly em: EntityManager; readonly input: Ordered }

/** Begins the payment, or says why it cannot. */
function begin(
  given: PayableOffer,
  ordered: MachinePayment,
  { batch, ...changes }: State,
  context: BeginContext,
): Begun | MachinePaymentProblem {
  const { payment, minted, keyThumbprint, expiresAt } = given
  const { em, systems, emit } = context
  const changed = changedSince(given, ordered, changes)
  if (changed) return changed
  const decided = decideTokenPayment(payment, batch, context)
  if (decided.blocker !== null) return blocked(decided.blocker, decided.message)
  if (decided.authorizationId === null) return blocked('payment_denied', decided.decision.reason)
  const { mppCredentialId, agentId, delegationId, intentId, cardId, amountCents, host } = payment
  const members = { agentId, delegationId, intentId, cardId, amountCents }
  const processor = systems.cardProcessor(payment.mode).name
  const issued = minted?.issued ?? null
  const token = registerMppToken(
    { ...members, mppCredentialId, merchantHost: host, keyThumbprint, expiresAt, processor, issued },
    context,
  )
  const credential = em.create(MppCredential, {
    ...members,
    ...tracesOf(given),
    id: mppCredentialId,
    agentCredentialId: token.id,
    sentBy: ordered.sentBy,
  })
  emit('mpp.credential.minted', mppCredentialEvent(credential))
  follow(credential, ordered, minted, context)
  const { authorizationId } = decided
  const { mode, request } = payment
  const begun = { authorizationId, mode, request }
  const { order } = given
  if (order) {
    const { requestId, now } = context
    const call = { reference: mppCredentialId, requestId, now }
    return { next: 'token', unused: null, sharing: { order, call, begun } }
  }
  if (!minted) throw new Error(`${mppCredentialId}: an offer without token and without order`)
  const sender = { holder: context.input.sender, begun }
  const sending = mintedOrSent(credential, ordered, { minted, sender, sharedTokenId: null }, context)
  return { next: nextStepAfter(credential, sending, context), unused: null, sending }
}

interface UsableCredential {
  readonly minted: MintedHeader
  readonly sharedTokenId: string | null
  readonly sender: Sender
}

/** Sent at once, or sealed until it is sent by a step of its own, or shown. */
function mintedOrSent(
  credential: MppCredential,
  ordered: MachinePayment,
  { minted, sharedTokenId, sender: { holder, begun } }: UsableCredential,
  { now, systems: { vault } }: Pick<TenantNow, 'now'> & Pick<Ports, 'systems'>,
): SendablePayment | undefined {
  if (holder && begun && ordered.sentBy === 'service' && mppCredentialMachine.move(credential, 'sent')) {
    markSent(credential, ordered, { holder, now })
    return sendable(credential, { ...begun, minted, sharedTokenId })
  }
  ordered.credential = sealMinted(ordered.id, minted, vault)
  return undefined
}

const nextStepAfter = (
  credential: MppCredential,
  sending: SendablePayment | undefined,
  context: Pick<TenantNow, 'now'>,
): NextStep => (sending ? 'send' : nextStepOf(credential, context))

/** From here on the credential's record says what becomes of the payment. */
function follow(
  credential: MppCredential,
  ordered: MachinePayment,
  minted: MintedHeader | null,
  { now, wake }: EmitContext,
): void {
  machinePaymentMachine.move(ordered, 'minted')
  const isOurs = ordered.sentBy === 'service'
  // Until it is sent its next step is due: where its run is late, the sweep goes on.
  ordered.dueAt = isOurs && ordered.workflowId !== null ? now : null
  credential.sentAt = null
  credential.dueAt = addMs(now, isOurs || !minted ? SENT_CREDENTIAL_GRACE_MS : INDETERMINATE_TTL_MS)
  credential.workflowId = isOurs ? ordered.workflowId : workflowIdOf(mppProcess, credential.id)
  if (credential.workflowId !== null) wake(mppProcess, credential)
}

function changedSince(
  { payment, offer, minted }: PayableOffer,
  ordered: MachinePayment,
  { rules, terms, allowed }: Changes,
): MachinePaymentProblem | undefined {
  if (!mayStillAsk(ordered, allowed)) return ASKER_NOT_ALLOWED
  const { agentId, intentId, intentMerchant: merchant, request } = payment
  const changed =
    payableHostProblem(new URL(request.url), { agentId, merchant }, rules) ??
    methodProblem(offer.method, terms.get(intentId)?.methods)
  if (changed) return changed
  const isAccepted =
    offer.method === 'stripe' || (minted && offer.card.acceptedNetworks.includes(minted.issued.network))
  return isAccepted ? undefined : blocked('network_not_accepted')
}

/** The method `stripe` names no merchant, and no card network before the payment. */
function tracesOf({ offer, minted, order, payment: { request, url, conversion, askedAt } }: PayableOffer) {
  const name = offer.method === 'card' ? offer.card.merchantName : ''
  return {
    merchant: merchantHost(new URL(request.url)),
    merchantName: name === '' || hasCardNumber(name) ? null : truncateText(name),
    url,
    method: request.method,
    conversion,
    network: minted?.issued.network ?? offer.method,
    challengeId: offer.challenge.id,
    challenge: offer.challenge,
    requestDigest: merchantRequestDigest(request),
    credentialDigest: minted?.digest ?? '',
    sharedToken: order,
    askedAt,
  }
}

/** Makes the processor delete a token that is not used. If it does not answer, the token expires within a day. */
export async function giveBackToken(
  tokenId: string,
  { setNetworkToken }: Pick<CardProcessor, 'setNetworkToken'>,
  { reference, ...call }: ProcessorCall,
): Promise<void> {
  await setNetworkToken?.(tokenId, 'deleted', { ...call, reference: `${reference}-unused` })
}

/** Who sends a credential in the transaction that makes it usable, which saves a commit. */
interface Sender {
  /** Its lease; null where sending is a step of its own. */
  readonly holder: string | null
  readonly begun: BegunPayment | undefined
}

/** The token that a payment which has begun waits for: it is created, or a person has to confirm it. */
export async function reserveSharedToken(
  id: string,
  { em, now, requestId }: WriteContext,
): Promise<TokenCall | null> {
  const credential = await em.findOne(MppCredential, { id })
  // One of 0.7.0 has no order: its request is not known any more, and its deadline ends it.
  const isOrdered = credential && (await em.findOne(MachinePayment, { id }))
  const isAwaited = isOrdered && isUnshared(credential) && !isDue(credential, { now })
  return isAwaited && credential.sharedToken
    ? { order: credential.sharedToken, call: { reference: id, requestId, now } }
    : null
}

/** The credential's id is the reference: a repetition gets the same token. A token that a person must confirm is known. */
export async function createSharedToken(
  { order, call }: TokenCall,
  { sharedTokens }: CardProcessor,
): Promise<SharedToken | ProcessorFailure> {
  if (!sharedTokens) throw new Error('an offer was chosen that this processor cannot pay')
  const { unconfirmed } = order
  if (!unconfirmed) return sharedTokens.create(order, call)
  const state = await sharedTokens.stateOf(unconfirmed.tokenId, {
    ...call,
    reference: `${call.reference}-state`,
  })
  return isProcessorFailure(state) ? state : { ...unconfirmed, state }
}

/** A token that can be charged. */
interface UsableToken {
  readonly id: string
  readonly token: SharedToken
  readonly sender: Sender
}

export const isUsable = (token: SharedToken | ProcessorFailure): token is SharedToken =>
  !isProcessorFailure(token) && token.state.status === 'active'

interface SharingState extends Pick<Ports, 'systems'> {
  readonly em: EntityManager
  readonly credentials: ReadonlyMap<string, MppCredential>
  readonly registered: ReadonlyMap<string | null, AgentCredential>
  readonly payments: ReadonlyMap<string, MachinePayment>
  readonly obstacles: ReadonlyMap<string, MachinePaymentProblem>
}

const sharingEvents = { 'agent_credential.issued': mppTokenEvents['agent_credential.issued'] }

const REVOKED = 'The token of this payment was revoked before it was sent. Nothing was paid.'

/**
 * Records the token, before a byte of it leaves: the credential can be sent now. A payment that has ended meanwhile is not
 * sent, and neither is one that is forbidden by now: its token is known, so that it can be revoked at the processor.
 */
export const recordSharedToken: StepBatch<
  typeof sharingEvents,
  UsableToken,
  Omit<Begun, 'unused'>,
  SharingState
> = {
  name: 'share',
  lanes: null,

  async load(items, sql, { systems }) {
    const { tenant, now } = items[0]
    const em = tenantEntityManager(sql, { tenant, now })
    const ids = items.map(({ input }) => input.id)
    const [credentials, registered, payments] = await Promise.all([
      em.find(MppCredential, { id: { $in: ids } }, FOR_UPDATE_BY_ID),
      em.find(AgentCredential, { mppCredentialId: { $in: ids } }, FOR_UPDATE_BY_ID),
      em.find(MachinePayment, { id: { $in: ids } }, FOR_UPDATE_BY_ID),
    ])
    const found = { credentials: byId(credentials), payments: byId(payments) }
    const isStale = credentials.some(one => isToBeDecidedAgain(one, { now }))
    const begun = begunIds(isStale ? await startedTokenPayments(sql, tenant, ids) : [])
    const obstacles = await findObstacles(decidedEarlier({ ...found, begun }, now), { em, sql, tenant, now })
    return {
      ...found,
      em,
      systems,
      obstacles,
      registered: new Map(registered.map(one => [one.mppCredentialId, one])),
    }
  },

  decide(item, state, verdict) {
    const { id, token, sender } = item.input
    const { now } = item
    const [credential, ordered] = [state.credentials.get(id), state.payments.get(id)]
    const registered = state.registered.get(id)
    if (!credential || !ordered || !registered) throw new Error(`${id}: a token without its payment`)
    const { sharedToken: order } = credential
    if (!isUnshared(credential) || !order) return { next: nextStepOf(credential, { now }) }
    const isLate = isDue(credential, { now })
    const obstacle = state.obstacles.get(id)
    if (isLate || obstacle) {
      Object.assign(registered, { tokenId: token.tokenId, last4: token.last4 })
      return { next: 'none', ...(isLate ? { isLate } : obstacle && { problem: obstacle }) }
    }
    // A key may have revoked it meanwhile.
    if (!activateMppToken(registered, token, { ...item, ...verdict }))
      return { next: 'none', problem: blocked('payment_denied', REVOKED) }
    const offer = readOffer(credential.challenge, 'stripe')
    if (!isOffer(offer)) throw new Error(`${id}: a token without its offer`)
    const { digest, ...minted } = credentialOf(offer, stripePayload(token.tokenId, offer.charge))
    const isOurs = credential.sentBy === 'service'
    Object.assign(credential, {
      credentialDigest: digest,
      nextAction: null,
      dueAt: addMs(now, isOurs ? SENT_CREDENTIAL_GRACE_MS : lastUseMs(order)),
    })
    const sent = { minted, sender, sharedTokenId: token.tokenId }
    const sending = mintedOrSent(credential, ordered, sent, { now, ...state })
    return { next: nextStepAfter(credential, sending, { now }), sending }
  },

  write: ({ em }) => em.flush(),
}

/** Without a usable token the payment ends, and the intent can be paid again at once, or it waits for a person. */
export async function recordNoToken(
  id: string,
  token: SharedToken | ProcessorFailure,
  tx: WriteContext<MachinePaymentEvents>,
): Promise<Omit<Begun, 'unused'>> {
  const payment = await lockMachinePayment(id, tx)
  if (payment && isUnshared(payment.credential)) await settleNoToken(payment, token, tx)
  return { next: payment ? nextStepOf(payment.credential, tx) : 'wait' }
}

async function settleNoToken(
  payment: LockedMachinePayment,
  token: SharedToken | ProcessorFailure,
  tx: Write,
): Promise<void> {
  const { id, sharedToken: order } = payment.credential
  if (!order) throw new Error(`${id}: no token was ordered`)
  if (isProcessorFailure(token))
    return order.unconfirmed ? waitOn(payment, token, tx) : endUnshared(payment, token.failure, tx)
  const { state } = token
  if (state.status === 'requires_action' && state.action) return awaitPerson(payment, token, state.action, tx)
  return endUnshared(payment, state.status === 'ended' ? 'refused' : 'requires_action', tx)
}

type Write = WriteContext<MachinePaymentEvents>

/** By real time, like the token’s end. */
const remainingMs = ({ expiresAt }: SharedTokenOrder): number =>
  Math.max(Date.parse(expiresAt) - clock.real().getTime(), 0)

/** No one can charge the token after its end. What was charged just before has been reported by then. */
const lastUseMs = (order: SharedTokenOrder): number => remainingMs(order) + SENT_CREDENTIAL_GRACE_MS

/** Nothing is sent, and the money stays held, until the person has confirmed or the token ends. */
async function awaitPerson(
  payment: LockedMachinePayment,
  { tokenId, last4 }: SharedToken,
  action: SharedTokenAction,
  tx: Write,
): Promise<void> {
  const { credential } = payment
  const { sharedToken: order } = credential
  if (!order) return
  if (credential.nextAction === null) {
    credential.sharedToken = { ...order, unconfirmed: { tokenId, last4 } }
    credential.dueAt = addMs(tx.now, remainingMs(order))
    const ordered = await tx.em.findOne(MachinePayment, { id: credential.id })
    if (ordered) ordered.dueAt = null
  }
  payment.awaitPerson(action)
  await answerLater(credential, { code: 'action_required', message: waitingMessage(action, order) }, tx)
}

const waitingMessage = ({ url }: SharedTokenAction, { expiresAt }: SharedTokenOrder): string =>
  `The card’s issuer wants a person to confirm this payment by ${formatMinute(new Date(expiresAt))}: ${url}. Nothing was sent. Once it is confirmed, repeat the request with a new Idempotency-Key.`

/** The processor does not say whether the person has confirmed: the payment waits as before. */
async function waitOn({ credential }: LockedMachinePayment, { failure }: ProcessorFailure, tx: Write) {
  const code = PROCESSOR_CODES[failure]
  await answerLater(credential, { code, message: mintRefusals[code][1] }, tx)
}

const CODES = { ...PROCESSOR_CODES, requires_action: 'action_required' } as const

/** Its run revokes the token that the processor may have created. */
async function endUnshared(
  payment: LockedMachinePayment,
  failure: ProcessorFailure['failure'] | 'requires_action',
  tx: Write,
): Promise<void> {
  const code = CODES[failure]
  const message = mintRefusals[code][1]
  payment.credential.note = message
  await payment.markUnpaid(failure === 'late' || failure === 'unusable' ? 'deadline' : 'network')
  await answerLater(payment.credential, { code, message }, tx)
}

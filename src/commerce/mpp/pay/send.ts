import type { z } from 'zod'
import { AgentCredential, mppTokenEvents } from '../../../cards/agent-credentials/index.ts'
import {
  applyTokenPaymentOutcome,
  type CardBatch,
  loadTokenPayments,
  startedTokenPayments,
  tokenPaymentAuthorization,
  tokenPaymentEvents,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import { agentLanes } from '../../../control/intents/index.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { WriteContext } from '../../../kernel/contract/context.ts'
import type { EntityManager } from '../../../kernel/contract/entity-manager.ts'
import type { Ports, Systems } from '../../../kernel/contract/ports.ts'
import { FOR_UPDATE_BY_ID } from '../../../kernel/database/entity.ts'
import { tenantEntityManager } from '../../../kernel/database/orm.ts'
import type { StepBatch } from '../../../kernel/run/steps.ts'
import {
  decodeChargeRequest,
  isUnusableInput,
  parseReceipt,
  paymentReceiptProblem,
} from '../../../mpp/index.ts'
import {
  isProcessorFailure,
  type ProcessorCall,
  type SharedTokenAction,
} from '../../../ports/card-processor.ts'
import type { OutboundAnswer } from '../../../ports/outbound.ts'
import { addMs, clock } from '../../../values/clock.ts'
import { containsCardNumber } from '../../../values/mask-card-numbers.ts'
import { machinePaymentOutcomeEvents, type mppApi } from '../api.ts'
import {
  isUnshared,
  MppCredential,
  mppCredentialMachine,
  type OrderedToken,
  SENT_CREDENTIAL_GRACE_MS,
} from '../credential.ts'
import { withoutCredential } from '../echoed-credential.ts'
import { encodeMerchantBody, MAX_MERCHANT_BODY_BYTES, type MerchantBody } from '../merchant-body.ts'
import { type MerchantRequest, merchantRequestHeaders } from '../merchant-request.ts'
import type { MachinePaymentProblem } from '../offers.ts'
import {
  answerLater,
  completeMachinePayment,
  lockMachinePayment,
  type MachinePaymentEvents,
  outcomeSummary,
} from '../outcome.ts'
import {
  type AnswerToCaller,
  byId,
  isDue,
  keepAnswer,
  MachinePayment,
  MachinePaymentAnswer,
  type MintedHeader,
  openMinted,
  openRequest,
} from '../payment.ts'
import { allowsOwnListener, outboundMerchantRequest } from './ask.ts'
import { findObstacles, isToBeDecidedAgain } from './look-again.ts'
import type { ClaimedOrder } from './order.ts'

/**
 * What a request that takes several steps of a payment hands from one to the next. A run, whose steps may be in any process,
 * reads it anew.
 */
export interface CarriedPayment {
  claimed?: ClaimedOrder | undefined
  sharing?: TokenCall | undefined
  sending?: SendablePayment | undefined
  /** The lease under which it has begun: after another one has begun, its outcome may be recorded as unknown. */
  holder?: string
  answer?: AnswerToCaller
  /** Its request has failed: what is recorded later is never sent. */
  isLeft?: boolean
}

/**
 * How long payments wait for an agent that another transaction has locked: their tokens are minted, or have
 * been sent. Earlier batches of the same agents do not cause a search for the lock's holder.
 */
export const AGENT_LOCK_TIMEOUTS = { sharedTimeoutMs: 500, ownTimeoutMs: 3_000 }

/** What sending its credential needs. */
export interface SendablePayment {
  readonly mppCredentialId: string
  readonly authorizationId: string
  readonly agentId: string
  readonly cardId: string
  readonly mode: Mode
  readonly request: MerchantRequest
  readonly askedAt: Date
  /** Null for the method `card`. */
  readonly sharedTokenId: string | null
}

export type BegunPayment = Pick<SendablePayment, 'authorizationId' | 'mode' | 'request'>

/** A shared payment token that is to be created. */
export interface TokenCall {
  readonly order: OrderedToken
  readonly call: ProcessorCall
  /** Known to the process that has just begun the payment. */
  readonly begun?: BegunPayment
}

interface SendingState extends Pick<Ports, 'systems'> {
  readonly obstacles: ReadonlyMap<string, MachinePaymentProblem>
  readonly em: EntityManager
  readonly credentials: ReadonlyMap<string, MppCredential>
  readonly payments: ReadonlyMap<string, MachinePayment>
  /** The ids of the payments that they have begun. */
  readonly begun: ReadonlyMap<string, string>
  readonly tokens: ReadonlyMap<string | null, AgentCredential>
}

/**
 * Commits that the credential is sent, before it is: from here on its fate is unknown after a crash. Undefined where another has,
 * or it is too late. What was decided some time ago is decided again, and may be forbidden by now.
 */
export const reserveSending: StepBatch<
  Record<never, never>,
  { readonly id: string; readonly holder: string },
  SendablePayment | MachinePaymentProblem | undefined,
  SendingState
> = {
  name: 'send',
  lanes: null,

  async load(items, sql, { systems }) {
    const { tenant, now } = items[0]
    const em = tenantEntityManager(sql, { tenant, now })
    const ids = items.map(({ input }) => input.id)
    const [credentials, payments, begun, tokens] = await Promise.all([
      em.find(MppCredential, { id: { $in: ids } }, FOR_UPDATE_BY_ID),
      em.find(MachinePayment, { id: { $in: ids } }, FOR_UPDATE_BY_ID),
      startedTokenPayments(sql, tenant, ids),
      em.find(AgentCredential, { mppCredentialId: { $in: ids } }),
    ])
    const found = {
      credentials: byId(credentials),
      payments: byId(payments),
      begun: begunIds(begun),
    }
    const obstacles = await findObstacles(decidedEarlier(found, now), { em, sql, tenant, now })
    return {
      ...found,
      em,
      systems,
      obstacles,
      tokens: new Map(tokens.map(one => [one.mppCredentialId, one])),
    }
  },

  decide({ input: { id, holder }, tenant: { mode }, now }, state) {
    const { credentials, payments, begun, tokens, systems, obstacles } = state
    const [credential, payment, authorizationId] = [credentials.get(id), payments.get(id), begun.get(id)]
    if (!credential || !payment?.credential || !payment.request || !authorizationId) return undefined
    const isOurs = credential.sentBy === 'service' && !isUnshared(credential)
    if (!isOurs || credential.status !== 'minted' || isDue(credential, { now })) return undefined
    const obstacle = obstacles.get(id)
    if (obstacle) return obstacle
    mppCredentialMachine.move(credential, 'sent')
    const minted = openMinted(id, payment.credential, systems.vault)
    const { request } = openRequest(payment, systems.vault)
    const sharedTokenId = credential.sharedToken && (tokens.get(id)?.tokenId ?? null)
    markSent(credential, payment, { holder, now })
    return sendable(credential, { authorizationId, mode, request, minted, sharedTokenId })
  },

  write: ({ em }) => em.flush(),
}

/** The ids of begun payments by those of their machine payments. */
export const begunIds = (
  begun: Awaited<ReturnType<typeof startedTokenPayments>>,
): ReadonlyMap<string, string> => new Map(begun.map(({ mppCredentialId, id }) => [mppCredentialId, id]))

/** The payments that are decided again before they are sent. */
export const decidedEarlier = (
  { credentials, payments, begun }: Pick<SendingState, 'credentials' | 'payments' | 'begun'>,
  now: Date,
) =>
  [...credentials.values()].flatMap(credential => {
    const [payment, authorizationId] = [payments.get(credential.id), begun.get(credential.id)]
    const isOpen = credential.status === 'minted' && payment && authorizationId !== undefined
    return isOpen && isToBeDecidedAgain(credential, { now }) ? [{ credential, payment, authorizationId }] : []
  })

/** The process that holds the lease sends it now. */
export function markSent(
  credential: MppCredential,
  payment: MachinePayment,
  { holder, now }: { readonly holder: string; readonly now: Date },
): void {
  Object.assign(credential, { sentAt: now, dueAt: addMs(now, SENT_CREDENTIAL_GRACE_MS) })
  Object.assign(payment, { credential: null, request: null, claimedBy: holder, dueAt: null })
}

interface Sent extends BegunPayment, Pick<SendablePayment, 'sharedTokenId'> {
  readonly minted: MintedHeader
}

export function sendable(
  { id: mppCredentialId, agentId, cardId, askedAt }: MppCredential,
  { request, minted: { header, credential }, ...members }: Sent,
): SendablePayment {
  const headers = { ...merchantRequestHeaders(request.headers, header), [header]: credential }
  return { mppCredentialId, agentId, cardId, askedAt, ...members, request: { ...request, headers } }
}

const SEND_TIMEOUT_MS = 30_000

type Answered = Extract<OutboundAnswer, { kind: 'answered' }>

interface Paid {
  readonly kind: 'paid'
  readonly payment: SendablePayment
  readonly answer: Answered
  readonly goods: MerchantBody
  /** Real time, against which receipts are checked. */
  readonly sentAt: Date
}

export interface IndeterminatePayment {
  readonly kind: 'open'
  readonly credentialId: string
  readonly answer: OutboundAnswer
  /** Where a person must confirm what the merchant has begun to charge; null if that is not so, or not known. */
  readonly action: SharedTokenAction | null
}

interface SendingCall {
  readonly systems: Systems
  readonly requestId: string
}

const isSuccess = ({ status }: Answered): boolean => status >= 200 && status <= 299

/** Sends the credential once, without retry or redirect. */
export async function sendCredential(
  payment: SendablePayment,
  outside: SendingCall,
): Promise<Paid | IndeterminatePayment> {
  const { systems } = outside
  const { mppCredentialId: credentialId, request, mode } = payment
  const sentAt = clock.real()
  const answer = await systems.outbound.send({
    ...outboundMerchantRequest(request),
    timeoutMs: SEND_TIMEOUT_MS,
    maxBytes: MAX_MERCHANT_BODY_BYTES,
    ownListener: allowsOwnListener(mode),
  })
  const open = async (came: OutboundAnswer) =>
    ({ kind: 'open', credentialId, answer: came, action: await actionOf(payment, outside) }) as const
  if (answer.kind !== 'answered') return open(answer)
  const given = withoutCredential(answer, request.headers)
  if (!isSuccess(given)) return open(given)
  // Reads the answer here, where no transaction is open.
  return { kind: 'paid', payment, answer: given, goods: goodsOf(given, answer), sentAt }
}

/** A merchant that charges a shared token may cause its issuer to ask a person, and then has nothing to deliver yet. */
async function actionOf(
  { sharedTokenId, mppCredentialId, mode, askedAt: now }: SendablePayment,
  { systems, requestId }: SendingCall,
): Promise<SharedTokenAction | null> {
  if (sharedTokenId === null) return null
  const state = await systems
    .cardProcessor(mode)
    .sharedTokens?.stateOf(sharedTokenId, { reference: `${mppCredentialId}-state`, requestId, now })
  const asks = state && !isProcessorFailure(state) && state.status === 'requires_action'
  return asks ? state.action : null
}

interface State extends Pick<Ports, 'systems'> {
  readonly batch: CardBatch
  readonly credentials: ReadonlyMap<string, MppCredential>
  readonly answers: ReadonlyMap<string, MachinePaymentAnswer>
  readonly em: EntityManager
}

const outcomeEvents = { ...tokenPaymentEvents, ...mppTokenEvents, ...machinePaymentOutcomeEvents }

type Payment = z.output<(typeof mppApi.pay)['returns'][1]>

export const recordPaid: StepBatch<typeof outcomeEvents, Paid, AnswerToCaller, State> = {
  name: 'paid',
  lanes: agentLanes(({ payment }) => payment.agentId, AGENT_LOCK_TIMEOUTS),

  async load(items, sql, { systems }) {
    const { tenant, now } = items[0]
    const em = tenantEntityManager(sql, { tenant, now })
    const payments = items.map(({ input }) => input.payment)
    const started = payments.map(({ authorizationId: id, agentId, cardId }) => ({ id, agentId, cardId }))
    const loading = loadTokenPayments(sql, { tenant, now }, { started })
    // Sent right after the agents' locks. Without those, a transaction never locks more than one of these
    // records.
    const ids = { $in: payments.map(({ mppCredentialId }) => mppCredentialId) }
    const finding = Promise.all([
      em.find(MppCredential, { id: ids }, FOR_UPDATE_BY_ID),
      em.find(MachinePaymentAnswer, { id: ids }),
    ])
    // Awaited last, so that its failure does not end the transaction while more statements are sent.
    finding.catch(() => undefined)
    const batch = await loading
    const [credentials, answers] = await finding
    return { em, systems, batch, credentials: byId(credentials), answers: byId(answers) }
  },

  decide(
    { input: { payment, answer, goods, sentAt }, now },
    { batch, credentials, answers, ...ports },
    verdict,
  ) {
    const credential = credentials.get(payment.mppCredentialId)
    if (!credential) throw new Error('a credential was sent that is not on record')
    const { receipt, note } = receiptOrLate(answer, credential, sentAt)
    const traces = { answeredAt: now, merchantStatus: answer.status }
    Object.assign(credential, { ...traces, receipt, note: note ?? commentOn(credential) })
    if (!isReportedUnpaid(credential)) {
      const authorization = tokenPaymentAuthorization(payment.mppCredentialId, batch)
      applyTokenPaymentOutcome(authorization, 'paid', batch, verdict)
      completeMachinePayment(credential, authorization.transactionId, 'merchant', verdict)
    }
    const body: Payment = {
      credential_id: credential.id,
      merchant_status: answer.status,
      receipt,
      merchant_body: goods,
      ...(note === undefined ? {} : { note }),
    }
    keepAnswer(credential, { body }, ports, answers.get(credential.id))
    return { body }
  },

  async write({ batch, em }, sql) {
    await Promise.all([writeCardBatch(batch, sql), em.flush()])
  },
}

/** Any answer but a 2xx, or none: whether it was paid is unknown. */
export async function recordIndeterminate(
  { answer, credentialId, action }: IndeterminatePayment,
  tx: WriteContext<MachinePaymentEvents>,
): Promise<AnswerToCaller> {
  const payment = await lockMachinePayment(credentialId, tx)
  if (!payment) throw new Error('a credential was sent that is not on record')
  const { credential } = payment
  credential.answeredAt = tx.now
  const isAnswered = answer.kind === 'answered'
  if (isAnswered) credential.merchantStatus = answer.status
  const note = isAnswered ? `The merchant answered ${answer.status}.` : describeFailure(answer)
  // Its state depends on what the network has reported meanwhile. In any case, the merchant delivered nothing.
  await payment.markIndeterminate(note, action)
  const isLate = answer.kind === 'failed' && answer.timedOut
  const code = isLate ? 'payment_unanswered' : 'payment_indeterminate'
  const problem = { code, message: `${note} ${outcomeSummary(credential)}` } as const
  await answerLater(credential, problem, tx)
  return problem
}

const LATE =
  'The payment had been recorded as not paid before this answer of the merchant. It counts as paid once the network reports it.'

/**
 * An earlier statement that it was not paid counts: if the merchant charged the token, the network reports
 * it. A deadline is not such a statement.
 */
const isReportedUnpaid = ({ status, outcomeBy }: MppCredential): boolean =>
  status === 'void' && outcomeBy !== 'deadline'

function receiptOrLate(answer: Answered, credential: MppCredential, sentAt: Date) {
  const read = receiptIn(answer, credential, sentAt)
  const note = read.receipt === null ? read.note : undefined
  return { receipt: read.receipt, note: isReportedUnpaid(credential) ? LATE : note }
}

const commentOn = ({ outcomeBy, note }: MppCredential): string | null =>
  outcomeBy === 'key' || outcomeBy === 'operator' ? note : null

function receiptIn(
  { headerLists }: Answered,
  { challenge, challengeId }: MppCredential,
  sentAt: Date,
): ReadReceipt {
  const [header, ...others] = headerLists['payment-receipt'] ?? []
  if (others.length > 0) return { receipt: null, note: 'The merchant gave more than one receipt.' }
  // A receipt never contains an asterisk, which marks what was sent to the merchant.
  if (header?.includes('*'))
    return { receipt: null, note: 'The receipt contains what the merchant was sent.' }
  const charge = decodeChargeRequest(challenge)
  const externalId = isUnusableInput(charge) ? undefined : charge.externalId
  const { method } = challenge
  return readPaymentReceipt(header, { challengeId, externalId, method, sentAt, now: clock.real() })
}

function goodsOf({ body, headers, cut }: Answered, came: Answered): MerchantBody {
  const goods = encodeMerchantBody({ body, contentType: headers['content-type'], cut })
  return Buffer.compare(body, came.body) === 0 ? goods : { ...goods, masked: true }
}

function describeFailure(answer: Exclude<OutboundAnswer, Answered>): string {
  if (answer.kind !== 'failed') return `The credential was not sent: ${answer.message}`
  return answer.timedOut ? 'The merchant did not answer in time.' : `The answer broke off: ${answer.message}`
}

interface ReceiptTerms {
  readonly challengeId: string
  readonly externalId: string | undefined
  readonly method: string
  readonly sentAt: Date
  readonly now: Date
}

/**
 * The unchanged receipt, or why it does not belong to this payment. It is unsigned, so only the outcome of
 * this payment depends on it.
 */
type ReadReceipt = { readonly receipt: string } | { readonly receipt: null; readonly note: string }

export function readPaymentReceipt(header: string | undefined, terms: ReceiptTerms): ReadReceipt {
  if (header === undefined) return { receipt: null, note: 'The merchant gave no receipt.' }
  const parsed = parseReceipt(header)
  if (isUnusableInput(parsed)) return { receipt: null, note: parsed.problem }
  if (containsCardNumber(parsed)) return { receipt: null, note: 'The receipt contains a card number.' }
  const problem = paymentReceiptProblem(parsed, { ...terms, method: terms.method.toLowerCase() })
  if (problem !== undefined) return { receipt: null, note: problem }
  return { receipt: header.trim() }
}

import type { z } from 'zod'
import {
  applyTokenPaymentOutcome,
  type CardBatch,
  loadTokenPayments,
  tokenPaymentAuthorization,
  writeCardBatch,
} from '../../../cards/authorizations/index.ts'
import { agentLanes } from '../../../control/intents/index.ts'
import type { BatchedStep, ExternalCallContext } from '../../../kernel/contract/handlers.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import type { Systems } from '../../../kernel/contract/ports.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import { oneOf, type Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/entity-records.ts'
import {
  decodeChargeRequest,
  isUnusableInput,
  parseReceipt,
  paymentReceiptProblem,
} from '../../../mpp/index.ts'
import { isProcessorFailure, type SharedTokenAction } from '../../../ports/card-processor.ts'
import type { OutboundAnswer } from '../../../ports/outbound.ts'
import { clock } from '../../../values/clock.ts'
import { containsCardNumber } from '../../../values/mask-card-numbers.ts'
import type { mppApi } from '../api.ts'
import { MppCredential } from '../credential.ts'
import { encodeMerchantBody, MAX_MERCHANT_BODY_BYTES, type MerchantBody } from '../merchant-body.ts'
import {
  completeMachinePayment,
  type LockedMachinePayment,
  lockMachinePayment,
  type MachinePaymentEvents,
} from '../outcome.ts'
import { allowsOwnListener } from './address.ts'
import { withoutCredential } from './echoed-credential.ts'
import { outboundMerchantRequest } from './mint.ts'
import type { SendablePayment } from './payment.ts'

type SendContext = ContextOf<typeof mppApi.pay>

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

const isSuccess = ({ status }: Answered): boolean => status >= 200 && status <= 299

/** Sends the credential once, without retry or redirect. */
export async function sendCredential(
  payment: SendablePayment,
  outside: ExternalCallContext,
): Promise<Paid | IndeterminatePayment> {
  const { systems } = outside
  const { mppCredentialId: credentialId, request, mode, agentId } = payment
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
  const given = await cleanAnswer(answer, request.headers, agentId, systems)
  if (!isSuccess(given)) return open(given)
  // Reads the answer here, where no transaction is open.
  return { kind: 'paid', payment, answer: given, goods: goodsOf(given, answer), sentAt }
}

/** A merchant that charges a shared token may cause its issuer to ask a person, and then has nothing to deliver yet. */
async function actionOf(
  { sharedTokenId, mppCredentialId, mode, askedAt: now }: SendablePayment,
  { systems, requestId }: ExternalCallContext,
): Promise<SharedTokenAction | null> {
  if (sharedTokenId === null) return null
  const state = await systems
    .cardProcessor(mode)
    .sharedTokens?.stateOf(sharedTokenId, { reference: `${mppCredentialId}-state`, requestId, now })
  const asks = state && !isProcessorFailure(state) && state.status === 'requires_action'
  return asks ? state.action : null
}

/** In bytes. A longer body is searched in a thread, since other requests would wait for it. */
const SEARCHED_HERE = 65_536

/**
 * Without a free thread, the answer is searched here: the credential has been sent, and its answer must not
 * be lost.
 */
function cleanAnswer(
  answer: Answered,
  sent: Readonly<Record<string, string>>,
  owner: string,
  { threads }: Pick<Systems, 'threads'>,
): Answered | Promise<Answered> {
  const here = (): Answered => withoutCredential(answer, sent)
  if (answer.body.length <= SEARCHED_HERE) return here()
  const task = {
    module: new URL('./echoed-credential.ts', import.meta.url),
    name: 'withoutCredential',
    owner,
  }
  return threads.run<typeof withoutCredential<Answered>>(task, answer, sent).catch(here)
}

/**
 * How long payments wait for an agent that another transaction has locked: their tokens are minted, or have
 * been sent. Earlier batches of the same agents do not cause a search for the lock's holder.
 */
export const AGENT_LOCK_TIMEOUTS = { sharedTimeoutMs: 500, ownTimeoutMs: 3_000 }

interface State {
  readonly batch: CardBatch
  readonly credentials: ReadonlyMap<string, MppCredential>
  readonly records: Records
}

type Payment = z.output<(typeof mppApi.pay)['returns'][1]>

export const recordPaidStep: BatchedStep<Paid, Payment, never, MachinePaymentEvents, State> = {
  name: 'outcome',
  lanes: agentLanes(({ payment }) => payment.agentId, AGENT_LOCK_TIMEOUTS),

  async load(items, sql) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const payments = items.map(({ input }) => input.payment)
    const started = payments.map(({ authorizationId: id, agentId, cardId }) => ({ id, agentId, cardId }))
    const loading = loadTokenPayments(sql, { tenant, now }, { started })
    // Sent right after the agents' locks. Without those, a transaction never locks more than one of these
    // records.
    const ids = oneOf(payments.map(({ mppCredentialId }) => mppCredentialId))
    const finding = records.find(MppCredential, { id: ids }, { orderBy: { id: 'asc' }, lock: true })
    // Awaited last, so that its failure does not end the transaction while more statements are sent.
    finding.catch(() => undefined)
    const batch = await loading
    const credentials = await finding
    return { records, batch, credentials: new Map(credentials.map(one => [one.id, one])) }
  },

  decide({ input: { payment, answer, goods, sentAt }, now }, { batch, credentials }, verdict) {
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
    return {
      credential_id: credential.id,
      merchant_status: answer.status,
      receipt,
      merchant_body: goods,
      ...(note === undefined ? {} : { note }),
    }
  },

  async write({ batch, records }, sql) {
    await Promise.all([writeCardBatch(batch, sql), records.flush()])
  },
}

export async function recordIndeterminate(
  { answer, credentialId, action }: IndeterminatePayment,
  context: SendContext,
) {
  const payment = await lockMachinePayment(credentialId, context)
  if (!payment) throw new Error('a credential was sent that is not on record')
  const { credential } = payment
  credential.answeredAt = context.now
  if (answer.kind !== 'answered')
    return recordUnpaid(payment, { note: describeFailure(answer), answer, action }, context)
  credential.merchantStatus = answer.status
  return recordUnpaid(payment, { note: `The merchant answered ${answer.status}.`, answer, action }, context)
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

/** Its state depends on what the network has reported meanwhile. In any case, the merchant delivered nothing. */
async function recordUnpaid(
  payment: LockedMachinePayment,
  { note, answer, action }: Pick<IndeterminatePayment, 'answer' | 'action'> & { readonly note: string },
  { refuse }: SendContext,
): Promise<Refusal> {
  const { credential } = payment
  await payment.markIndeterminate(note, action)
  const isLate = answer.kind === 'failed' && answer.timedOut
  const code = isLate ? 'payment_unanswered' : 'payment_indeterminate'
  return refuse(code, `${note} ${outcomeSummary(credential)}`)
}

const PAID = 'The card network reports that it is paid.'
const NOT_PAID = 'The card network declined the payment: it is not paid, and the intent can be paid again.'

function outcomeSummary({
  id,
  status,
  nextAction,
}: Pick<MppCredential, 'id' | 'status' | 'nextAction'>): string {
  if (status === 'consumed' || status === 'void')
    return `${status === 'void' ? NOT_PAID : PAID} GET /v1/mpp/credentials/${id} has the record.`
  if (nextAction)
    return `The card’s issuer wants a person to confirm the payment: ${nextAction.url}. It counts as paid once the card network clears it. GET /v1/mpp/credentials/${id} shows the outcome.`
  return `The credential ${id} was sent, so it may have been paid: the money stays held, and nothing is minted again. GET /v1/mpp/credentials/${id} shows the outcome; once the owner has learned it from the merchant, resolve it with POST /v1/mpp/credentials/${id}/resolve.`
}

/** After a crash the answer is lost, and the credential is not sent again. */
export async function recoverSentCredential(id: string, context: SendContext): Promise<Refusal> {
  const payment = await lockMachinePayment(id, context)
  if (!payment) throw new Error('a credential was sent that is not on record')
  if (payment.credential.status === 'sent')
    await payment.markIndeterminate('The answer of the merchant was lost.')
  return context.refuse(
    'payment_indeterminate',
    `The answer of the merchant was lost. ${outcomeSummary(payment.credential)}`,
  )
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

import type { Context, DecideContext } from '../../../kernel/contract/context.ts'
import {
  AnswerNow,
  type BatchedStep,
  CallExternal,
  chainExternalCall,
  type ExternalCallContext,
  type ExternalHandler,
  type ReserveHandler,
} from '../../../kernel/contract/handlers.ts'
import {
  type AnswerWithHeaders,
  type HandlerAnswer,
  type Refusal,
  withHeaders,
} from '../../../kernel/contract/problem.ts'
import type { RawRequest } from '../../../kernel/contract/raw-request.ts'
import {
  credentialDigest,
  isPaymentScheme,
  isUnusableInput,
  type PaymentCredential,
  parseCredential,
  serializeChallenge,
} from '../../../mpp/index.ts'
import { clock } from '../../../values/clock.ts'
import { type UsableMppKey, usableMppKeys } from '../../mpp-keys/index.ts'
import { PaymentRequest, type PaymentRequestRow } from '../../payment-requests/index.ts'
import type { cardSettlementEvents, PaymentRequiredRefusal } from './api.ts'
import {
  acquirerChargeFor,
  type ChargeResult,
  findSettlement,
  type LockedCharges,
  loadNewCharges,
  lockCharges,
  type NewCharge,
  type NewCharges,
  recordChargeOutcome,
  requestOfSettlement,
  startCharge,
  writeLockedCharges,
  writeNewCharges,
} from './charges.ts'
import {
  acceptSharedToken,
  type ChargeableToken,
  checkPaymentCredential,
  decryptNetworkToken,
  type EncryptedNetworkToken,
  type SharedPaymentToken,
} from './credential.ts'
import { collectMethodOf, createChallenges, type PaidArticle } from './offer.ts'
import { type Settlement, settlementExternalId } from './settlement.ts'

type PayEvents = typeof cardSettlementEvents

export type PaymentRequiredContext<F extends string = never> = Context<PaymentRequiredRefusal | F>

export type PathParams = Readonly<Record<string, string>>

export interface PaidArticleSource<R, F extends string = never> {
  find(params: PathParams, context: Context<never>): Promise<PaidArticle | undefined>
  /** Returns the same for every repetition. The sandbox's merchants are paid without a request. */
  unlocked(settlement: Settlement, request: PaymentRequestRow | undefined): R
  answer?(
    paid: AnswerWithHeaders<R>,
    params: PathParams,
    context: DecideContext<PaymentRequiredRefusal | F>,
  ): HandlerAnswer<R>
}

export const presentedPaymentCredential = ({ headers }: Pick<RawRequest, 'headers'>): string | undefined =>
  [headers.authorization, headers['payment-authorization']].find(
    value => value !== undefined && isPaymentScheme(value),
  )

interface Presented {
  readonly params: PathParams
  readonly article: PaidArticle
  readonly digest: string
  readonly challengeId: string
}

interface Sealed {
  readonly presented: Presented
  readonly sealed: EncryptedNetworkToken | SharedPaymentToken
}

interface OpenedToken extends Sealed {
  readonly token: ChargeableToken
}

interface RejectedToken {
  readonly message: string
}

interface Charging {
  readonly presented: Presented
  readonly settlement: Settlement
  readonly token: unknown
}

interface Charged extends ChargeResult {
  readonly presented: Presented
}

const isOpened = (read: OpenedToken | RejectedToken): read is OpenedToken => 'token' in read
const isCharged = (_: Charged): _ is Charged => true

async function readToken(
  { presented, sealed }: Sealed,
  { systems }: ExternalCallContext,
): Promise<OpenedToken | RejectedToken> {
  const acquirer = systems.acquirer(presented.article.tenant.mode)
  const token =
    'spt' in sealed
      ? acceptSharedToken(sealed, acquirer)
      : await decryptNetworkToken(sealed, systems.vault, acquirer)
  return 'message' in token ? token : { presented, sealed, token }
}

async function charge(
  { presented, settlement, token }: Charging,
  { systems, requestId }: ExternalCallContext,
): Promise<Charged> {
  const { tenant, offsetMs } = presented.article
  const call = { requestId, now: clock.tenant(offsetMs) }
  const outcome = await systems
    .acquirer(tenant.mode)
    .charge({ ...acquirerChargeFor(settlement), token }, call)
  return { presented, settlement, outcome }
}

interface AddressInput {
  readonly params: PathParams
}

interface PaidHandler<R, F extends string>
  extends ExternalHandler<
    AddressInput,
    R,
    PaymentRequiredRefusal | F,
    PayEvents,
    Presented,
    RejectedToken | null
  > {
  readonly reserve: ReserveHandler<AddressInput, R, PaymentRequiredRefusal | F, PayEvents, Presented>
}

/**
 * The handler of an address that requires payment. Nothing is written before a credential is verified: the id
 * of a challenge is an HMAC over everything that is offered. A verified credential is stored as a settlement,
 * and committed, before its card is charged. Both are written in batches, as many payers of an owner's
 * requests come at once. Tokens are in memory only: without an `Idempotency-Key`, no reservation is stored.
 */
export function paymentRequiredHandler<R, F extends string = never>(
  payee: PaidArticleSource<R, F>,
): PaidHandler<R, F> {
  const step = beginStep(finishStep(payee))
  return {
    async peek({ params }, context) {
      if (presentedPaymentCredential(context) !== undefined) return undefined
      const article = await payee.find(params, context)
      if (!article) return context.refuse('request_not_found')
      return refuseWithChallenge(article, 'payment_required', undefined, context)
    },

    /** An owner's first keys are also created here: within a transaction, that would need a second connection. */
    readsToReserve: true,

    async reserve({ params }, context) {
      const read = await readCredential(payee, params, context)
      if (!('sealed' in read)) return read
      const { tenant } = read.presented.article
      return chainExternalCall(read.presented, {
        value: read,
        call: readToken,
        step,
        accepts: isOpened,
        tenant,
      })
    },

    call: async () => null,

    async record(notTaken, { article, ...presented }, context) {
      context.switchTenant(article.tenant, clock.tenant(article.offsetMs))
      if (notTaken) return refuseWithChallenge(article, 'payment_refused', notTaken.message, context)
      const present = await payee.find(presented.params, context)
      if (!present) return context.refuse('request_not_found')
      const settlement = await findSettlement(presented.challengeId, context)
      return settlement
        ? repeatAnswer(payee, { ...presented, article: present }, settlement, context)
        : refuseWithChallenge(
            present,
            'challenge_invalid',
            'What to pay has changed. Pay the fresh challenge.',
            context,
          )
    },

    /** Without a key, recovery has nothing to go by: after a crash, the deadline asks for the outcome. */
    recover: async (_reservation, context) => context.refuse('payment_under_way'),
  }
}

async function readCredential<R, F extends string>(
  payee: PaidArticleSource<R, F>,
  params: PathParams,
  context: PaymentRequiredContext<F>,
): Promise<Sealed | AnswerNow<R> | Refusal | AnswerWithHeaders<Refusal>> {
  const article = await payee.find(params, context)
  if (!article) return context.refuse('request_not_found')
  const header = presentedPaymentCredential(context) ?? ''
  const credential = parseCredential(header)
  if (isUnusableInput(credential))
    return refuseWithChallenge(article, 'credential_malformed', credential.problem, context)
  const { method, intent, id: challengeId } = credential.challenge
  if (!collectMethodOf(method) || intent !== 'charge') return context.refuse('method_not_offered')
  const presented = { params, article, digest: credentialDigest(header), challengeId }
  const [settlement, keys] = await Promise.all([findSettlement(challengeId, context), usableMppKeys(context)])
  if (settlement) return new AnswerNow(await repeatAnswer(payee, presented, settlement, context))
  const sealed = sealedToken(credential, article, keys, context)
  return 'network' in sealed ? { presented, sealed } : sealed
}

function sealedToken(
  credential: PaymentCredential,
  article: PaidArticle,
  keys: readonly UsableMppKey[],
  context: PaymentRequiredContext,
): EncryptedNetworkToken | SharedPaymentToken | Refusal | AnswerWithHeaders<Refusal> {
  const { host, rawBody: body } = context
  const checked = checkPaymentCredential(credential, article, keys, { host, body })
  if ('code' in checked) return refuseWithChallenge(article, checked.code, checked.message, context)
  if (article.ended) return context.refuse(article.ended)
  const {
    payload,
    key: { jwk, privateKey },
  } = checked
  const { id: challengeId } = credential.challenge
  if ('spt' in payload) return { spt: payload.spt, challengeId, network: 'stripe' }
  return { jwe: payload.encryptedPayload, kid: jwk.kid, privateKey, challengeId, network: payload.network }
}

type Step<I, R, S, F extends string = never> = BatchedStep<I, R, PaymentRequiredRefusal | F, PayEvents, S>
type FinishStep<R, F extends string> = Step<
  Charged,
  HandlerAnswer<R> | CallExternal<Presented>,
  LockedCharges,
  F
>

function newChargeOf({ presented, sealed: { network }, token }: OpenedToken): NewCharge {
  const { article, digest, challengeId } = presented
  const { subject, amountCents, merchantName: descriptor } = article
  const { handle, last4 } = token
  return {
    challengeId,
    credentialDigest: digest,
    network,
    last4: last4 ?? '',
    handle,
    subject,
    amountCents,
    descriptor,
  }
}

const beginStep = <R, F extends string>(
  step: FinishStep<R, F>,
): Step<OpenedToken, CallExternal<Presented>, NewCharges> => ({
  name: 'begin',
  load(items, sql) {
    const beginnings = items.map(({ input }) => newChargeOf(input))
    return loadNewCharges(beginnings, sql, items[0])
  },
  decide({ input, tenant, now }, beginnings, { refuse, emit, wake }) {
    const { presented, token } = input
    const settlement = startCharge(newChargeOf(input), beginnings, { tenant, now, emit, wake })
    if (settlement === 'payment_under_way') return refuse(settlement)
    if (settlement === 'not_payable') return new CallExternal(presented)
    const value = { presented, settlement, token: token.token }
    const { tenant: payeeTenant } = presented.article
    return chainExternalCall(presented, {
      value,
      call: charge,
      step,
      accepts: isCharged,
      tenant: payeeTenant,
    })
  },
  write: writeNewCharges,
})

const finishStep = <R, F extends string>(payee: PaidArticleSource<R, F>): FinishStep<R, F> => ({
  name: 'finish',
  load(items, sql, { systems }) {
    const charges = items.map(({ input }) => input)
    return lockCharges(charges, sql, items[0], systems)
  },
  decide({ input, tenant, now }, endings, verdict) {
    const { emit, wake } = verdict
    const settlement = recordChargeOutcome(input, endings, { tenant, now, emit, wake })
    if (settlement.status === 'charging') return verdict.refuse('outcome_open')
    const { receipt } = settlement
    if (receipt === null) return new CallExternal(input.presented)
    const paid = { settlement, receipt, request: requestOfSettlement(settlement, endings)?.request }
    return paidAnswer(payee, paid, input.presented.params, verdict)
  },
  write: writeLockedCharges,
})

export function refuseWithChallenge(
  article: PaidArticle,
  code: PaymentRequiredRefusal,
  message: string | undefined,
  { host, rawBody, headers, refuse }: PaymentRequiredContext,
): Refusal | AnswerWithHeaders<Refusal> {
  if (article.ended) return refuse(article.ended)
  const challenges = createChallenges(article, { host, body: rawBody }, headers['accept-payment'])
  if (challenges.length === 0) return refuse(code, message)
  const offered = challenges.map(serializeChallenge).join(', ')
  return withHeaders(refuse(code, message), { 'WWW-Authenticate': offered })
}

async function repeatAnswer<R, F extends string>(
  payee: PaidArticleSource<R, F>,
  { params, article, digest }: Presented,
  settlement: Settlement,
  context: PaymentRequiredContext<F>,
): Promise<HandlerAnswer<R>> {
  if (settlementExternalId(settlement) !== article.externalId)
    return refuseWithChallenge(
      article,
      'challenge_invalid',
      'The challenge was offered for something else.',
      context,
    )
  if (settlement.credentialDigest !== digest)
    return refuseWithChallenge(article, 'challenge_used', undefined, context)
  if (settlement.status === 'charging') return context.refuse('payment_under_way')
  const { receipt, declineReason, requestId } = settlement
  if (receipt === null)
    return refuseWithChallenge(article, 'payment_refused', `The card was declined: ${declineReason}`, context)
  const request =
    requestId === null ? undefined : await context.records.findOneOrFail(PaymentRequest, { id: requestId })
  return paidAnswer(payee, { settlement, receipt, request }, params, context)
}

interface Paid {
  readonly settlement: Settlement
  readonly receipt: string
  readonly request: PaymentRequestRow | undefined
}

function paidAnswer<R, F extends string>(
  payee: PaidArticleSource<R, F>,
  { settlement, receipt, request }: Paid,
  params: PathParams,
  context: DecideContext<PaymentRequiredRefusal | F>,
): HandlerAnswer<R> {
  const headers = { 'Payment-Receipt': receipt, 'Cache-Control': 'private' }
  const paid = withHeaders(payee.unlocked(settlement, request), headers)
  return payee.answer ? payee.answer(paid, params, context) : paid
}

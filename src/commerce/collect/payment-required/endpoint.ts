import type { Context, DecideContext } from '../../../kernel/contract/context.ts'
import {
  type BatchedStep,
  type BeginByReading,
  type ExternalCallContext,
  HotCall,
  type HotExternalHandler,
  recordInBatch,
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

interface Opened {
  readonly presented: Presented
  readonly charge: NewCharge
  readonly token: unknown
}

/** A token that was rejected, or an article that is no longer payable. */
type NotCharged = { readonly message: string } | null

type NextCall = HotCall<Presented, NotCharged>

interface Charged extends ChargeResult {
  readonly presented: Presented
}

const chargeCard = (
  settlement: Settlement,
  token: unknown,
  offsetMs: number,
  { systems, requestId }: ExternalCallContext,
): Promise<ChargeResult['outcome']> =>
  systems
    .acquirer(settlement.mode)
    .charge({ ...acquirerChargeFor(settlement), token }, { requestId, now: clock.tenant(offsetMs) })

interface AddressInput {
  readonly params: PathParams
}

interface PaidHandler<R, F extends string>
  extends HotExternalHandler<AddressInput, R, PaymentRequiredRefusal | F, PayEvents, Presented, NotCharged> {
  readonly begin: BeginByReading<AddressInput, R, PaymentRequiredRefusal | F, Presented, NotCharged>
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
    begin: {
      by: 'reading',
      /** An owner's first keys are also created here: within a transaction, that would need a second connection. */
      read: ({ params }, context) => readCredential(payee, step, params, context),
    },

    async record(rejected, { article, ...presented }, context) {
      if (rejected) return refuseWithChallenge(article, 'payment_refused', rejected.message, context)
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
  step: BeginStep<F>,
  params: PathParams,
  context: PaymentRequiredContext<F>,
): Promise<HandlerAnswer<R> | NextCall> {
  const article = await payee.find(params, context)
  if (!article) return context.refuse('request_not_found')
  const header = presentedPaymentCredential(context)
  if (header === undefined) return refuseWithChallenge(article, 'payment_required', undefined, context)
  const credential = parseCredential(header)
  if (isUnusableInput(credential))
    return refuseWithChallenge(article, 'credential_malformed', credential.problem, context)
  const { method, intent, id: challengeId } = credential.challenge
  if (!collectMethodOf(method) || intent !== 'charge') return context.refuse('method_not_offered')
  const presented = { params, article, digest: credentialDigest(header), challengeId }
  const [settlement, keys] = await Promise.all([findSettlement(challengeId, context), usableMppKeys(context)])
  if (settlement) return repeatAnswer(payee, presented, settlement, context)
  const sealed = sealedToken(credential, article, keys, context)
  if (!('network' in sealed)) return sealed
  return new HotCall(presented, async ({ systems }) => {
    const acquirer = systems.acquirer(article.tenant.mode)
    const opened =
      'spt' in sealed
        ? acceptSharedToken(sealed, acquirer)
        : await decryptNetworkToken(sealed, systems.vault, acquirer)
    if ('message' in opened) return opened
    const { token } = opened
    return recordInBatch(step, { presented, charge: newCharge(presented, sealed.network, opened), token })
  })
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
type BeginStep<F extends string> = Step<Opened, NextCall, NewCharges, F>
type FinishStep<R, F extends string> = Step<Charged, HandlerAnswer<R> | NextCall, LockedCharges, F>

function newCharge(
  { article, digest: credentialDigest, challengeId }: Presented,
  network: string,
  { handle, last4 }: ChargeableToken,
): NewCharge {
  const { subject, amountCents, merchantName: descriptor } = article
  return {
    ...{ challengeId, credentialDigest, network, handle, subject, amountCents, descriptor },
    last4: last4 ?? '',
  }
}

const beginStep = <R, F extends string>(step: FinishStep<R, F>): BeginStep<F> => ({
  name: 'begin',
  lanes: null,
  load(items, sql) {
    const charges = items.map(({ input }) => input.charge)
    return loadNewCharges(charges, sql, items[0])
  },
  decide({ input: { presented, charge, token }, tenant, now }, beginnings, { refuse, emit, wake }) {
    const settlement = startCharge(charge, beginnings, { tenant, now, emit, wake })
    if (settlement === 'payment_under_way') return refuse(settlement)
    if (settlement === 'not_payable') return new HotCall(presented, async () => null)
    const { offsetMs } = presented.article
    return new HotCall<Presented, NotCharged>(presented, async outside => {
      const outcome = await chargeCard(settlement, token, offsetMs, outside)
      return recordInBatch(step, { presented, settlement, outcome })
    })
  },
  write: writeNewCharges,
})

const finishStep = <R, F extends string>(payee: PaidArticleSource<R, F>): FinishStep<R, F> => ({
  name: 'finish',
  lanes: null,
  load(items, sql, { systems }) {
    const charges = items.map(({ input }) => input)
    return lockCharges(charges, sql, items[0], systems)
  },
  decide({ input, tenant, now }, endings, verdict) {
    const { emit, wake } = verdict
    const settlement = recordChargeOutcome(input, endings, { tenant, now, emit, wake })
    if (settlement.status === 'charging') return verdict.refuse('outcome_open')
    const { receipt } = settlement
    if (receipt === null) return new HotCall(input.presented, async () => null)
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
    requestId === null ? undefined : await context.em.findOneOrFail(PaymentRequest, { id: requestId })
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

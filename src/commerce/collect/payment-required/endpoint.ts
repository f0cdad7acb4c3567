import type { Context } from '../../../kernel/contract/context.ts'
import {
  AnswerNow,
  type BatchedStep,
  CallExternal,
  type OutsideHandler,
  type Reserve,
  type TakenStep,
  takeStep,
} from '../../../kernel/contract/handlers.ts'
import { type Answer, type Refusal, type WithHeaders, withHeaders } from '../../../kernel/contract/problem.ts'
import {
  type Credential,
  credentialDigest,
  isPaymentScheme,
  isUnusable,
  parseCredential,
  writeChallenge,
} from '../../../mpp/index.ts'
import { clock } from '../../../values/clock.ts'
import { type LiveKey, liveKeys } from '../../mpp-keys/index.ts'
import { PaymentRequest, type RequestRow } from '../request.ts'
import type { PaidFailure, settledEvents } from './api.ts'
import { checkCredential, type SealedToken, type TakenToken, takeToken } from './credential.ts'
import { type Article, challengeFor } from './offer.ts'
import {
  type Beginning,
  type Beginnings,
  beginSettlement,
  chargeOf,
  type EndedCharge,
  type Endings,
  endCharge,
  openBeginnings,
  openEndings,
  requestPaidBy,
  settlementOf,
  writeBeginnings,
  writeEndings,
} from './settle.ts'
import { externalIdOf, type Settlement } from './settlement.ts'

type PayEvents = typeof settledEvents

export type PayContext<F extends string = never> = Context<PaidFailure | F, PayEvents>

export type Params = Readonly<Record<string, string>>

/** The one who is paid at an address: what the address offers, and what is given to those who have paid for it. */
export interface Payee<R, F extends string = never> {
  /** Reads what is to be paid, and continues as the tenant that is paid. */
  find(params: Params, context: Context<never>): Promise<Article | undefined>
  /** The same for every repetition. The sandbox's merchants are paid without a request. */
  unlocked(settlement: Settlement, request: RequestRow | undefined): R
  /** Changes the answer to those who have paid. */
  answer?(paid: WithHeaders<R>, params: Params, context: Pick<PayContext<F>, 'refuse'>): Answer<R>
}

/** The credential of a request, in the usual header or in the one beside it. Other schemes present nothing. */
export const presentedIn = ({ headers }: Pick<PayContext, 'headers'>): string | undefined =>
  [headers.authorization, headers['payment-authorization']].find(
    value => value !== undefined && isPaymentScheme(value),
  )

/** What a credential was presented for, and its digest. */
interface Presented {
  readonly params: Params
  readonly article: Article
  readonly digest: string
}

/** A credential whose token is to be read next. */
interface Reading extends Presented {
  readonly step: 'read'
  readonly sealed: SealedToken
}

/** A settlement that is stored and committed, and is charged next. */
interface Charging extends Presented {
  readonly step: 'charge'
  readonly settlement: Settlement
  readonly token: unknown
}

/** A payer who is answered by what is there once the step before is committed: nothing is charged. */
interface Answering extends Presented {
  readonly step: 'answer'
  readonly challengeId: string
}

export type Reserved = Reading | Charging | Answering

/** A token that can be charged, and the challenge that it pays. */
interface Taken {
  readonly step: 'taken'
  readonly reading: Reading
  readonly token: TakenToken
}

/** A token that cannot be charged, and why. */
interface NotTaken {
  readonly step: 'not_taken'
  readonly reading: Reading
  readonly message: string
}

interface Charged extends EndedCharge {
  readonly step: 'charged'
  readonly charging: Charging
}

/** What came of decrypting the token, or of charging it. */
type Called = Taken | NotTaken | Charged | Answering

interface Named {
  readonly params: Params
}

interface PaidHandler<R, F extends string>
  extends OutsideHandler<Named, R, PaidFailure | F, PayEvents, Reserved, Called> {
  readonly reserve: Reserve<Named, R, PaidFailure | F, PayEvents, Reserved>
  recordBatched(
    answer: Called,
  ): TakenStep<Answer<R> | CallExternal<Reserved>, PaidFailure | F, PayEvents> | undefined
}

/**
 * The handler of an address that wants to be paid. Nothing is written before a credential is found good: the id of a
 * challenge is an HMAC over all that is offered. A good one is stored as a settlement, and committed, before its card is
 * charged. Tokens are in memory only: as no `Idempotency-Key` is observed, a reservation is stored nowhere.
 */
export function paidEndpoint<R, F extends string = never>(payee: Payee<R, F>): PaidHandler<R, F> {
  const finish = finishStep(payee)
  return {
    async peek({ params }, context) {
      if (presentedIn(context) !== undefined) return undefined
      const article = await payee.find(params, context)
      if (!article) return context.refuse('request_not_found')
      return ask(article, 'payment_required', undefined, context)
    },

    /** The first keys of an owner are made here too: within a transaction that would take a second connection. */
    readsToReserve: true,

    reserve: ({ params }, context) => readCredential(payee, params, context),

    async call(reservation, { ports, requestId }) {
      if (reservation.step === 'answer') return reservation
      const { tenant, offsetMs } = reservation.article
      const acquirer = ports.acquirer(tenant.mode)
      if (reservation.step === 'read') {
        const token = await takeToken(reservation.sealed, ports.vault, acquirer)
        return 'message' in token
          ? { step: 'not_taken', reading: reservation, message: token.message }
          : { step: 'taken', reading: reservation, token }
      }
      const { settlement, token } = reservation
      const charge = { ...chargeOf(settlement), token }
      const outcome = await acquirer.charge(charge, { requestId, now: clock.tenant(offsetMs) })
      return { step: 'charged', charging: reservation, settlement, outcome }
    },

    /** All that is written is written in batches, as many payers of an owner's requests come at once. */
    recordBatched(called) {
      if (called.step === 'taken') return takeStep(beginStep, called, called.reading.article.tenant)
      return called.step === 'charged' ? takeStep(finish, called, called.charging.article.tenant) : undefined
    },

    async record(called, _reservation, context) {
      if (called.step === 'taken' || called.step === 'charged') throw new Error('it is recorded in a batch')
      const { article, params, digest } = called.step === 'answer' ? called : called.reading
      context.actFor(article.tenant, clock.tenant(article.offsetMs))
      if (called.step === 'not_taken') return ask(article, 'payment_refused', called.message, context)
      const present = await payee.find(params, context)
      if (!present) return context.refuse('request_not_found')
      const settlement = await settlementOf(called.challengeId, context)
      return settlement
        ? answerAgain(payee, { params, article: present, digest }, settlement, context)
        : ask(
            present,
            'challenge_invalid',
            'What is to be paid has changed. Pay the fresh challenge.',
            context,
          )
    },

    /** No key is observed, so nothing is recovered by one: what a crash leaves is asked for by its deadline. */
    recover: async (_reservation, context) => context.refuse('payment_under_way'),
  }
}

/** Checks all of a credential that is told without its token. */
async function readCredential<R, F extends string>(
  payee: Payee<R, F>,
  params: Params,
  context: PayContext<F>,
): Promise<Reading | AnswerNow<R> | Refusal | WithHeaders<Refusal>> {
  const article = await payee.find(params, context)
  if (!article) return context.refuse('request_not_found')
  const presented = presentedIn(context) ?? ''
  const credential = parseCredential(presented)
  if (isUnusable(credential)) return ask(article, 'credential_malformed', credential.problem, context)
  const { method, intent, id } = credential.challenge
  if (method !== 'card' || intent !== 'charge') return context.refuse('method_not_offered')
  const digest = credentialDigest(presented)
  const [settlement, keys] = await Promise.all([settlementOf(id, context), liveKeys(context)])
  if (settlement)
    return new AnswerNow(await answerAgain(payee, { params, article, digest }, settlement, context))
  const sealed = sealedToken(credential, article, keys, context)
  return 'jwe' in sealed ? { step: 'read', params, article, digest, sealed } : sealed
}

function sealedToken(
  credential: Credential,
  article: Article,
  keys: readonly LiveKey[],
  context: PayContext,
): SealedToken | Refusal | WithHeaders<Refusal> {
  const { host, rawBody: body } = context
  const checked = checkCredential(credential, article, keys, { host, body })
  if ('code' in checked) return ask(article, checked.code, checked.message, context)
  if (article.ended) return context.refuse(article.ended)
  const {
    payload,
    key: { jwk, privateKey },
  } = checked
  const { id: challengeId } = credential.challenge
  return { jwe: payload.encryptedPayload, kid: jwk.kid, privateKey, challengeId, network: payload.network }
}

type Step<I, R, S, F extends string = never> = BatchedStep<I, R, PaidFailure | F, PayEvents, S>

/** What is charged for a credential, as it is stored. */
function beginningOf({ reading: { article, digest, sealed }, token }: Taken): Beginning {
  const { challengeId, network } = sealed
  const { subject, amountCents, merchantName: descriptor } = article
  const { handle, last4 } = token
  return { challengeId, credentialDigest: digest, network, last4, handle, subject, amountCents, descriptor }
}

const answering = ({ params, article, digest }: Presented, challengeId: string) =>
  new CallExternal<Answering>({ step: 'answer', params, article, digest, challengeId })

/** Stores charges, each before anything is sent. */
const beginStep: Step<Taken, CallExternal<Charging | Answering>, Beginnings> = {
  name: 'begin',
  load(items, sql) {
    const beginnings = items.map(({ input }) => beginningOf(input))
    return openBeginnings(beginnings, sql, items[0])
  },
  decide({ input, tenant, now }, beginnings, { refuse, emit, wake }) {
    const { reading, token } = input
    const settlement = beginSettlement(beginningOf(input), beginnings, { tenant, now, emit, wake })
    if (settlement === 'payment_under_way') return refuse(settlement)
    if (settlement === 'not_payable') return answering(reading, reading.sealed.challengeId)
    const { params, article, digest } = reading
    return new CallExternal({ step: 'charge', params, article, digest, settlement, token: token.token })
  },
  write: writeBeginnings,
}

/** Records how charges have ended. Those who have paid get at once what that unlocks. */
const finishStep = <R, F extends string>(
  payee: Payee<R, F>,
): Step<Charged, Answer<R> | CallExternal<Answering>, Endings, F> => ({
  name: 'finish',
  load(items, sql, ports) {
    const charges = items.map(({ input }) => input)
    return openEndings(charges, sql, items[0], ports)
  },
  decide({ input, tenant, now }, endings, verdict) {
    const { emit, wake } = verdict
    const settlement = endCharge(input, endings, { tenant, now, emit, wake })
    if (settlement.status === 'charging') return verdict.refuse('outcome_open')
    const { receipt, challengeId } = settlement
    const { charging } = input
    if (receipt === null) return answering(charging, challengeId)
    const paid = { settlement, receipt, request: requestPaidBy(settlement, endings)?.request }
    return paidAnswer(payee, paid, charging.params, verdict)
  },
  write: writeEndings,
})

/** A refusal with a fresh challenge; without one where nothing can be paid any more. */
export function ask(
  article: Article,
  code: PaidFailure,
  message: string | undefined,
  { host, rawBody, refuse }: Pick<PayContext, 'host' | 'rawBody' | 'refuse'>,
): Refusal | WithHeaders<Refusal> {
  if (article.ended) return refuse(article.ended)
  const challenge = challengeFor(article, { host, body: rawBody })
  return withHeaders(refuse(code, message), { 'WWW-Authenticate': writeChallenge(challenge) })
}

/** The answer to a credential for a challenge that has been presented before. */
async function answerAgain<R, F extends string>(
  payee: Payee<R, F>,
  { params, article, digest }: Presented,
  settlement: Settlement,
  context: PayContext<F>,
): Promise<Answer<R>> {
  if (externalIdOf(settlement) !== article.externalId)
    return ask(article, 'challenge_invalid', 'The challenge was offered for something else.', context)
  if (settlement.credentialDigest !== digest) return context.refuse('challenge_used')
  if (settlement.status === 'charging') return context.refuse('payment_under_way')
  const { receipt, declineReason, requestId } = settlement
  if (receipt === null)
    return ask(article, 'payment_refused', `The card was declined: ${declineReason}`, context)
  const request =
    requestId === null ? undefined : await context.records.findOneOrFail(PaymentRequest, { id: requestId })
  return paidAnswer(payee, { settlement, receipt, request }, params, context)
}

interface Paid {
  readonly settlement: Settlement
  readonly receipt: string
  readonly request: RequestRow | undefined
}

/** What those who have paid are given, with the receipt. */
function paidAnswer<R, F extends string>(
  payee: Payee<R, F>,
  { settlement, receipt, request }: Paid,
  params: Params,
  context: Pick<PayContext<F>, 'refuse'>,
): Answer<R> {
  const headers = { 'Payment-Receipt': receipt, 'Cache-Control': 'private' }
  const paid = withHeaders(payee.unlocked(settlement, request), headers)
  return payee.answer ? payee.answer(paid, params, context) : paid
}

import type { Context } from '../../../kernel/contract/context.ts'
import {
  AnswerNow,
  type BatchedStep,
  type CallContext,
  CallExternal,
  nextCall,
  type OutsideHandler,
  type Reserve,
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

/** What a credential was presented for, its digest, and the challenge that it pays. */
interface Presented {
  readonly params: Params
  readonly article: Article
  readonly digest: string
  readonly challengeId: string
}

interface Sealed {
  readonly presented: Presented
  readonly sealed: SealedToken
}

/** A token that can be charged. */
interface Taken extends Sealed {
  readonly token: TakenToken
}

/** Why a token cannot be charged. */
interface NotTaken {
  readonly message: string
}

/** A settlement that is stored and committed, and is charged next. */
interface Charging {
  readonly presented: Presented
  readonly settlement: Settlement
  readonly token: unknown
}

interface Charged extends EndedCharge {
  readonly presented: Presented
}

const isTaken = (read: Taken | NotTaken): read is Taken => 'token' in read
const isCharged = (_: Charged): _ is Charged => true

async function readToken({ presented, sealed }: Sealed, { ports }: CallContext): Promise<Taken | NotTaken> {
  const token = await takeToken(sealed, ports.vault, ports.acquirer(presented.article.tenant.mode))
  return 'message' in token ? token : { presented, sealed, token }
}

async function charge(
  { presented, settlement, token }: Charging,
  { ports, requestId }: CallContext,
): Promise<Charged> {
  const { tenant, offsetMs } = presented.article
  const call = { requestId, now: clock.tenant(offsetMs) }
  const outcome = await ports.acquirer(tenant.mode).charge({ ...chargeOf(settlement), token }, call)
  return { presented, settlement, outcome }
}

interface Named {
  readonly params: Params
}

interface PaidHandler<R, F extends string>
  extends OutsideHandler<Named, R, PaidFailure | F, PayEvents, Presented, NotTaken | null> {
  readonly reserve: Reserve<Named, R, PaidFailure | F, PayEvents, Presented>
}

/**
 * The handler of an address that wants to be paid. Nothing is written before a credential is found good: the id of a
 * challenge is an HMAC over all that is offered. A good one is stored as a settlement, and committed, before its card is
 * charged. Both are written in batches, as many payers of an owner's requests come at once. Tokens are in memory only: as no
 * `Idempotency-Key` is observed, a reservation is stored nowhere.
 */
export function paidEndpoint<R, F extends string = never>(payee: Payee<R, F>): PaidHandler<R, F> {
  const step = beginStep(finishStep(payee))
  return {
    async peek({ params }, context) {
      if (presentedIn(context) !== undefined) return undefined
      const article = await payee.find(params, context)
      if (!article) return context.refuse('request_not_found')
      return ask(article, 'payment_required', undefined, context)
    },

    /** The first keys of an owner are made here too: within a transaction that would take a second connection. */
    readsToReserve: true,

    async reserve({ params }, context) {
      const read = await readCredential(payee, params, context)
      if (!('sealed' in read)) return read
      const { tenant } = read.presented.article
      return nextCall(read.presented, { value: read, call: readToken, step, takes: isTaken, tenant })
    },

    /** Nothing is charged: the payer is answered by what is there once the step before is committed. */
    call: async () => null,

    async record(notTaken, { article, ...presented }, context) {
      context.actFor(article.tenant, clock.tenant(article.offsetMs))
      if (notTaken) return ask(article, 'payment_refused', notTaken.message, context)
      const present = await payee.find(presented.params, context)
      if (!present) return context.refuse('request_not_found')
      const settlement = await settlementOf(presented.challengeId, context)
      return settlement
        ? answerAgain(payee, { ...presented, article: present }, settlement, context)
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
): Promise<Sealed | AnswerNow<R> | Refusal | WithHeaders<Refusal>> {
  const article = await payee.find(params, context)
  if (!article) return context.refuse('request_not_found')
  const header = presentedIn(context) ?? ''
  const credential = parseCredential(header)
  if (isUnusable(credential)) return ask(article, 'credential_malformed', credential.problem, context)
  const { method, intent, id: challengeId } = credential.challenge
  if (method !== 'card' || intent !== 'charge') return context.refuse('method_not_offered')
  const presented = { params, article, digest: credentialDigest(header), challengeId }
  const [settlement, keys] = await Promise.all([settlementOf(challengeId, context), liveKeys(context)])
  if (settlement) return new AnswerNow(await answerAgain(payee, presented, settlement, context))
  const sealed = sealedToken(credential, article, keys, context)
  return 'jwe' in sealed ? { presented, sealed } : sealed
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
type FinishStep<R, F extends string> = Step<Charged, Answer<R> | CallExternal<Presented>, Endings, F>

/** What is charged for a credential, as it is stored. */
function beginningOf({ presented, sealed: { network }, token }: Taken): Beginning {
  const { article, digest, challengeId } = presented
  const { subject, amountEuros, merchantName: descriptor } = article
  const { handle, last4 } = token
  return { challengeId, credentialDigest: digest, network, last4, handle, subject, amountEuros, descriptor }
}

/** Stores charges, each before anything is sent. */
const beginStep = <R, F extends string>(
  step: FinishStep<R, F>,
): Step<Taken, CallExternal<Presented>, Beginnings> => ({
  name: 'begin',
  load(items, sql) {
    const beginnings = items.map(({ input }) => beginningOf(input))
    return openBeginnings(beginnings, sql, items[0])
  },
  decide({ input, tenant, now }, beginnings, { refuse, emit, wake }) {
    const { presented, token } = input
    const settlement = beginSettlement(beginningOf(input), beginnings, { tenant, now, emit, wake })
    if (settlement === 'payment_under_way') return refuse(settlement)
    if (settlement === 'not_payable') return new CallExternal(presented)
    const value = { presented, settlement, token: token.token }
    const { tenant: payeeTenant } = presented.article
    return nextCall(presented, { value, call: charge, step, takes: isCharged, tenant: payeeTenant })
  },
  write: writeBeginnings,
})

/** Records how charges have ended. Those who have paid get at once what that unlocks. */
const finishStep = <R, F extends string>(payee: Payee<R, F>): FinishStep<R, F> => ({
  name: 'finish',
  load(items, sql, ports) {
    const charges = items.map(({ input }) => input)
    return openEndings(charges, sql, items[0], ports)
  },
  decide({ input, tenant, now }, endings, verdict) {
    const { emit, wake } = verdict
    const settlement = endCharge(input, endings, { tenant, now, emit, wake })
    if (settlement.status === 'charging') return verdict.refuse('outcome_open')
    const { receipt } = settlement
    if (receipt === null) return new CallExternal(input.presented)
    const paid = { settlement, receipt, request: requestPaidBy(settlement, endings)?.request }
    return paidAnswer(payee, paid, input.presented.params, verdict)
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

import type { Context } from '../../../kernel/contract/context.ts'
import { type Answer, type Refusal, type WithHeaders, withHeaders } from '../../../kernel/contract/problem.ts'
import { isPaymentScheme, writeChallenge } from '../../../mpp/index.ts'
import type { PaidFailure } from './endpoint-contract.ts'
import { type Article, challengeFor } from './offer.ts'
import type { settledEvents } from './settled-events.ts'
import { externalIdOf, type Settlement } from './settlement.ts'

export type PayContext = Context<PaidFailure, typeof settledEvents>

export type Params = Readonly<Record<string, string>>

/** Whoever is paid at an address: what the address offers, and what is given to whoever has paid for it. */
export interface Payee<R> {
  /** Reads what is to be paid, and continues as the tenant that is paid. */
  find(params: Params, context: PayContext): Promise<Article | undefined>
  /** The same for every repetition. */
  unlocked(settlement: Settlement, context: PayContext): Promise<R>
}

/** The credential of a request, in the usual header or in the one beside it. Other schemes present nothing. */
export const presentedIn = ({ headers }: Pick<PayContext, 'headers'>): string | undefined =>
  [headers.authorization, headers['payment-authorization']].find(
    value => value !== undefined && isPaymentScheme(value),
  )

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
export async function answerAgain<R>(
  payee: Payee<R>,
  article: Article,
  settlement: Settlement,
  digest: string,
  context: PayContext,
): Promise<Answer<R>> {
  if (externalIdOf(settlement) !== article.externalId)
    return ask(article, 'challenge_invalid', 'The challenge was offered for something else.', context)
  if (settlement.credentialDigest !== digest) return context.refuse('challenge_used')
  if (settlement.status === 'charging') return context.refuse('payment_under_way')
  return ended(payee, article, settlement, context)
}

/** The answer to whoever has paid, or was declined. */
export async function ended<R>(
  payee: Payee<R>,
  article: Article,
  settlement: Settlement,
  context: PayContext,
): Promise<Answer<R>> {
  const { receipt, declineReason } = settlement
  if (receipt === null)
    return ask(article, 'payment_refused', `The card was declined: ${declineReason}`, context)
  return paidAnswer(await payee.unlocked(settlement, context), receipt)
}

/** What whoever has paid is given, with the receipt. */
export const paidAnswer = <R>(unlocked: R, receipt: string): WithHeaders<R> =>
  withHeaders(unlocked, { 'Payment-Receipt': receipt, 'Cache-Control': 'private' })

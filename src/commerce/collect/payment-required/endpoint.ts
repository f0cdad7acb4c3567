import { CallExternal, type OutsideHandler, type Reserve } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { Answer } from '../../../kernel/contract/problem.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { clock } from '../../../values/clock.ts'
import { answerAgain, ask, ended, type Params, type PayContext, type Payee, presentedIn } from './answers.ts'
import type { PaidFailure } from './endpoint-contract.ts'
import { type NotTaken, type Reading, readCredential, type TakenToken, takeToken } from './read-credential.ts'
import { type Beginning, beginSettlement, chargeOf, finishSettlement } from './settle.ts'
import type { settledEvents } from './settled-events.ts'
import type { Settlement } from './settlement.ts'

/** A settlement that is stored and committed, and is charged next. */
export interface Charging extends Pick<Reading, 'params' | 'article'> {
  readonly step: 'charge'
  readonly settlement: Settlement
  readonly charge: ReturnType<typeof chargeOf>
  readonly token: unknown
}

interface Named {
  readonly params: Params
}

/** An answer that cannot be recorded in a batch: it is recorded by itself, and nobody is called. */
export interface Unshared extends Pick<Reading, 'params'> {
  readonly step: 'unshared'
  readonly called: Called
}

export type Reserved = Reading | Charging | Unshared

/** What came of decrypting the token, or of charging it. */
export type Called = Taken | Charged

export interface Taken {
  readonly step: 'taken'
  readonly reading: Reading
  readonly token: TakenToken | NotTaken
}

export interface Charged {
  readonly step: 'charged'
  readonly charging: Charging
  readonly outcome: ChargeOutcome
}

export interface PaidHandler<R>
  extends OutsideHandler<Named, R, PaidFailure, typeof settledEvents, Reserved, Called> {
  readonly reserve: Reserve<Named, R, PaidFailure, typeof settledEvents, Reserved>
}

/**
 * The handler of an address that wants to be paid. Nothing is written before a credential is found good: the id of a
 * challenge is an HMAC over all that is offered. A good one is stored as a settlement, and committed, before its card is
 * charged. Tokens are in memory only: as no `Idempotency-Key` is observed, a reservation is stored nowhere.
 */
export const paidEndpoint = <R>(payee: Payee<R>): PaidHandler<R> => ({
  async peek({ params }, context) {
    if (presentedIn(context) !== undefined) return undefined
    const article = await payee.find(params, context as PayContext)
    if (!article) return context.refuse('request_not_found')
    return ask(article, 'payment_required', undefined, context)
  },

  /** The first keys of an owner are made here too: within a transaction that would take a second connection. */
  readsToReserve: true,

  reserve: ({ params }, context) => readCredential(payee, params, context),

  async call(reservation, { ports, requestId }) {
    if (reservation.step === 'unshared') return reservation.called
    if (reservation.step === 'read')
      return { step: 'taken', reading: reservation, token: await takeFor(reservation, ports) }
    return { step: 'charged', charging: reservation, outcome: await chargeFor(reservation, ports, requestId) }
  },

  async record(called, _reservation, context) {
    const { tenant, offsetMs } = (called.step === 'taken' ? called.reading : called.charging).article
    context.actFor(tenant, clock.tenant(offsetMs))
    return called.step === 'taken' ? begin(payee, called, context) : finish(payee, called, context)
  },

  /** No key is observed, so nothing is recovered by one: what a crash leaves is asked for by its deadline. */
  recover: async (_reservation, context) => context.refuse('payment_under_way'),
})

const takeFor = ({ sealed, article }: Reading, ports: Ports) =>
  takeToken(sealed, ports.vault, ports.acquirer(article.tenant.mode))

function chargeFor(
  { charge, token, article }: Charging,
  ports: Ports,
  requestId: string,
): Promise<ChargeOutcome> {
  const { tenant, offsetMs } = article
  return ports.acquirer(tenant.mode).charge({ ...charge, token }, { requestId, now: clock.tenant(offsetMs) })
}

async function begin<R>(
  payee: Payee<R>,
  { reading, token }: Taken,
  context: PayContext,
): Promise<Answer<R> | CallExternal<Charging>> {
  const { params, article, digest } = reading
  if ('message' in token) return ask(article, 'payment_refused', token.message, context)
  const begun = await beginSettlement(beginningOf(reading, token), context)
  if (begun === 'payment_under_way') return context.refuse('payment_under_way')
  const present = begun === 'changed' || 'known' in begun ? await payee.find(params, context) : article
  if (!present) return context.refuse('request_not_found')
  if (begun === 'changed')
    return ask(
      present,
      'challenge_invalid',
      'What is to be paid has changed. Pay the fresh challenge.',
      context,
    )
  if ('known' in begun) return answerAgain(payee, present, begun.known, digest, context)
  const { settlement } = begun
  return new CallExternal(chargingOf(reading, settlement, token.token))
}

/** What is charged next, once the settlement is committed. */
export const chargingOf = (
  { params, article }: Reading,
  settlement: Settlement,
  token: unknown,
): Charging => ({ step: 'charge', params, article, settlement, charge: chargeOf(settlement), token })

/** What is charged for a credential, as it is stored. */
export function beginningOf({ article, digest, sealed }: Reading, { handle, last4 }: TakenToken): Beginning {
  const { challengeId, network } = sealed
  const { subject, amountEuros, merchantName: descriptor } = article
  return { challengeId, credentialDigest: digest, network, last4, handle, subject, amountEuros, descriptor }
}

async function finish<R>(
  payee: Payee<R>,
  { charging, outcome }: Charged,
  context: PayContext,
): Promise<Answer<R>> {
  const {
    params,
    article: asked,
    settlement: { id },
  } = charging
  const { requestId, walletId } = asked.subject
  const settlement = await finishSettlement({ id, requestId, walletId }, outcome, context)
  if (settlement.status === 'charging') return context.refuse('outcome_open')
  // Only where nothing was charged, it is asked for anew.
  const article = settlement.status === 'paid' ? asked : await payee.find(params, context)
  return article ? ended(payee, article, settlement, context) : context.refuse('request_not_found')
}

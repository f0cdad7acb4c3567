import { NextCall, type OutsideHandler, type Reserve } from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { Answer } from '../../../kernel/contract/problem.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { clock } from '../../../values/clock.ts'
import { answerAgain, ask, ended, type Params, type PayContext, type Payee, presentedIn } from './answers.ts'
import { beginSettlement, chargeOf } from './begin-settlement.ts'
import type { PaidFailure } from './endpoint-contract.ts'
import { finishSettlement } from './finish-settlement.ts'
import { type Reading, readCredential } from './read-credential.ts'
import type { settledEvents } from './settled-events.ts'
import { type NotTaken, type TakenToken, takeToken } from './take-token.ts'

/** A settlement that is stored and committed, and is charged next. */
interface Charging extends Pick<Reading, 'params' | 'article'> {
  readonly step: 'charge'
  readonly settlementId: string
  readonly charge: ReturnType<typeof chargeOf>
  readonly token: unknown
}

interface Asked {
  readonly params: Params
}

type Reserved = Reading | Charging
type Called = TakenToken | NotTaken | ChargeOutcome

interface Handler<R> extends OutsideHandler<Asked, R, PaidFailure, typeof settledEvents, Reserved, Called> {
  readonly reserve: Reserve<Asked, R, PaidFailure, typeof settledEvents, Reserved>
}

/**
 * The handler of an address that wants to be paid. Nothing is written before a credential is found good: the id of a
 * challenge is an HMAC over all that is offered. A good one is stored as a settlement, and committed, before its card is
 * charged. Tokens are in memory only: as no `Idempotency-Key` is observed, a reservation is stored nowhere.
 */
export const paidEndpoint = <R>(payee: Payee<R>): Handler<R> => ({
  async peek({ params }, context) {
    // Also makes the first keys of an owner: within the transaction of a payment that would take a second connection.
    const article = await payee.find(params, context as PayContext)
    if (!article) return context.refuse('request_not_found')
    return presentedIn(context) === undefined
      ? ask(article, 'payment_required', undefined, context)
      : undefined
  },

  reserve: ({ params }, context) => readCredential(payee, params, context),

  call: (reservation, { ports, requestId }) =>
    reservation.step === 'read' ? takeFor(reservation, ports) : chargeFor(reservation, ports, requestId),

  async record(answer, reservation, context) {
    const { tenant, offsetMs } = reservation.article
    context.actFor(tenant, clock.tenant(offsetMs))
    return reservation.step === 'read'
      ? begin(payee, reservation, answer as TakenToken | NotTaken, context)
      : finish(payee, reservation, answer as ChargeOutcome, context)
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
  reading: Reading,
  taken: TakenToken | NotTaken,
  context: PayContext,
): Promise<Answer<R> | NextCall<Charging>> {
  const { params, article, digest, sealed } = reading
  if ('message' in taken) return ask(article, 'payment_refused', taken.message, context)
  const { handle, last4, token } = taken
  const { challengeId, network } = sealed
  const { subject, amountEuros, merchantName: descriptor } = article
  const card = { challengeId, credentialDigest: digest, network, last4, handle }
  const begun = await beginSettlement({ ...card, subject, amountEuros, descriptor }, context)
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
  return new NextCall({
    step: 'charge',
    params,
    article,
    settlementId: settlement.id,
    charge: chargeOf(settlement),
    token,
  })
}

async function finish<R>(
  payee: Payee<R>,
  { params, article: asked, settlementId: id }: Charging,
  outcome: ChargeOutcome,
  context: PayContext,
): Promise<Answer<R>> {
  const { requestId, walletId } = asked.subject
  const settlement = await finishSettlement({ id, requestId, walletId }, outcome, context)
  if (settlement.status === 'charging') return context.refuse('outcome_open')
  // Only where nothing was charged, it is asked for anew.
  const article = settlement.status === 'paid' ? asked : await payee.find(params, context)
  return article ? ended(payee, article, settlement, context) : context.refuse('request_not_found')
}

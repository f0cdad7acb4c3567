import { clock } from '../../../values/clock.ts'
import { offerProblem } from '../offer-checks.ts'
import { type CardOffer, cardOffer } from '../offers.ts'
import { asksOwnListener } from './address.ts'
import { fetchMerchantKey } from './merchant-key.ts'
import { AT_ONCE, type Outside, sendable, unanswered } from './outside.ts'
import { type Asking, isProblem, type PayProblem } from './reservation.ts'
import { type MintedToken, mintToken } from './token.ts'

/** An offer that can be paid, and the credential that pays it. */
export interface Minted extends MintedToken {
  readonly offer: CardOffer
}

const ASK_MS = 10_000
/** More than the headers and the problem of a 402 need. */
const ASK_BYTES = 65_536
/** Asks, checks and mints, with no transaction open. Nothing that comes of it has left yet. */
export async function askAndMint(asking: Asking, outside: Outside): Promise<Minted | PayProblem> {
  const { subject, request } = asking
  const offer = asking.challenge === null ? await ask(asking, outside) : given(asking.challenge)
  if (isProblem(offer)) return offer
  const { tokenNetworks } = outside.ports.cardProcessor(subject.mode)
  const problem = offerProblem(offer, {
    now: clock.real(),
    heldEuros: BigInt(subject.heldCents),
    networks: tokenNetworks ?? [],
    body: request.body,
    url: new URL(request.url),
  })
  if (problem) return problem
  const key = await fetchMerchantKey(offer.card, subject.mode, outside)
  if (isProblem(key)) return key
  const token = await mintToken({ offer, key, subject, url: new URL(request.url) }, outside)
  if (isProblem(token)) return token
  return { ...token, offer }
}

const given = (challenge: string): CardOffer | PayProblem =>
  cardOffer({ status: 402, authenticate: [challenge], headerNames: [], body: new Uint8Array() })

async function ask({ subject, request }: Asking, { ports }: Outside): Promise<CardOffer | PayProblem> {
  const headers = { ...request.headers, 'accept-payment': 'card/charge' }
  const answer = await ports.outbound.send({
    ...sendable({ ...request, headers }),
    timeoutMs: ASK_MS,
    maxBytes: ASK_BYTES,
    ownListener: asksOwnListener(subject.mode),
    atOnce: AT_ONCE,
  })
  if (answer.kind !== 'answered') return unanswered(answer)
  return cardOffer({
    status: answer.status,
    authenticate: answer.headerLists['www-authenticate'] ?? [],
    headerNames: Object.keys(answer.headers),
    body: answer.body,
  })
}

import {
  type CardDetails,
  type Challenge,
  type ChargeRequest,
  cardDetailsOf,
  isObject,
  isUnusable,
  parseChallenges,
  requestOf,
} from '../../mpp/index.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'

/** An answer of a merchant, as far as offers stand in it. */
export interface MerchantAnswer {
  readonly status: number
  /** Each `WWW-Authenticate` header by itself. */
  readonly authenticate: readonly string[]
  /** The names of all headers, in small letters. */
  readonly headerNames: readonly string[]
  readonly body: Uint8Array
}

/** A charge by card that a merchant offers. */
export interface CardOffer {
  readonly challenge: Challenge
  readonly charge: ChargeRequest
  readonly card: CardDetails
}

/** Why there is no offer to be taken: the code of a refusal, and what was there. */
export interface NoOffer {
  readonly code: 'no_challenge' | 'no_card_offer' | 'challenge_unusable'
  readonly message: string
}

const MOST_NAMED = 10

const listed = (names: readonly string[]): string =>
  names
    .slice(0, MOST_NAMED)
    .map(name => maskCardNumbers(name.replace(/[^\x21-\x7e]/g, '?').slice(0, 60)))
    .join(', ') + (names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '')

/** The offer that is taken: the first charge by card that can be read. */
export function cardOffer(answer: MerchantAnswer): CardOffer | NoOffer {
  const { challenges, otherSchemes, problems } = parseChallenges(answer.authenticate)
  if (answer.status !== 402) return notAsked(answer.status)
  const charges = challenges.filter(isCardCharge)
  const [first, ...others] = charges.map(readOffer)
  const usable = [first, ...others].find(offer => offer && 'challenge' in offer)
  if (usable) return usable
  if (first) return first
  const offers = challenges.map(({ method, intent }) => `${method}/${intent}`)
  const names = [...new Set([...offers, ...otherSchemes, ...otherProtocols(answer)])]
  const offered =
    names.length === 0 ? 'The merchant offers nothing that can be read' : `Offered: ${listed(names)}`
  const why = problems.length > 0 ? ` ${problems.slice(0, 3).join(' ')}` : ''
  return {
    code: 'no_card_offer',
    message: `url: the merchant takes no payment by card/charge of the scheme Payment. ${offered}.${why}`,
  }
}

const isCardCharge = ({ method, intent }: Challenge): boolean =>
  method.toLowerCase() === 'card' && intent.toLowerCase() === 'charge'

const notAsked = (status: number): NoOffer => ({
  code: 'no_challenge',
  message:
    status >= 200 && status < 300
      ? `url: the merchant answered ${status} and asks for no payment. Request it yourself.`
      : `url: the merchant answered ${status}, not 402: it asks for no payment at this address. Nothing was paid.`,
})

const NUMBER_INSIDE = 'The challenge contains the number of a card, which must be neither kept nor sent.'

/** A challenge is kept byte for byte: what it hides in base64url is looked at too. */
function hasCardNumberInside({ request, opaque = '', ...others }: Challenge): boolean {
  const inside = [request, opaque].map(text => Buffer.from(text, 'base64url').toString('utf8'))
  const text = [...Object.values(others), opaque, ...inside].join('\n')
  return maskCardNumbers(text) !== text
}

function readOffer(challenge: Challenge): CardOffer | NoOffer {
  const charge = requestOf(challenge)
  if (isUnusable(charge)) return { code: 'challenge_unusable', message: `url: ${charge.problem}` }
  if (hasCardNumberInside(challenge)) return { code: 'challenge_unusable', message: `url: ${NUMBER_INSIDE}` }
  const card = cardDetailsOf(charge)
  if (isUnusable(card)) return { code: 'challenge_unusable', message: `url: ${card.problem}` }
  return { challenge, charge, card }
}

/** Payment protocols that stand in other headers, or in the body. */
function otherProtocols({ headerNames, body }: MerchantAnswer): string[] {
  const isX402 = headerNames.some(name => name === 'payment-required' || name.startsWith('x-payment'))
  return isX402 || namesX402(body) ? ['x402'] : []
}

function namesX402(body: Uint8Array): boolean {
  if (body.length > 65_536) return false
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return isObject(value) && 'x402Version' in value
  } catch {
    return false
  }
}

import { digestMatches, isInstant } from '../../mpp/index.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { calledHost, isSameSite, plainHost } from './hosts.ts'
import type { CardOffer } from './offers.ts'

/** What an offer is held against before anything is minted for it. */
export interface OfferTerms {
  /** Real time: a merchant knows no clock of a tenant. */
  readonly now: Date
  readonly heldEuros: Euros
  /** The networks whose tokens the card's processor gives. */
  readonly networks: readonly string[]
  /** The body of the request, whose digest a challenge may name. */
  readonly body: string | null
  /** The address that was asked. */
  readonly url: URL
}

export type OfferProblemCode =
  | 'challenge_unusable'
  | 'challenge_expired'
  | 'amount_above_held'
  | 'currency_not_eur'
  | 'network_not_accepted'
  | 'digest_mismatch'
  | 'merchant_key_unusable'
  | 'merchant_mismatch'

export interface OfferProblem {
  readonly code: OfferProblemCode
  readonly message: string
}

type Check = (offer: CardOffer, terms: OfferTerms) => OfferProblem | undefined

const inTime: Check = ({ challenge: { expires } }, { now }) => {
  if (expires === undefined) return undefined
  if (!isInstant(expires))
    return {
      code: 'challenge_unusable',
      message: 'url: the challenge expires at what is no time of RFC 3339.',
    }
  if (Date.parse(expires) > now.getTime()) return undefined
  return {
    code: 'challenge_expired',
    message: `url: the challenge of the merchant expired at ${new Date(expires).toISOString()}. Try again; a merchant whose challenges are always over has a wrong clock.`,
  }
}

const inEuros: Check = ({ charge: { currency } }) =>
  currency === 'eur'
    ? undefined
    : {
        code: 'currency_not_eur',
        message: `url: the merchant asks for ${currency.toUpperCase()}. Only euros are paid.`,
      }

const withinHeld: Check = ({ charge: { amount } }, { heldEuros }) =>
  amount <= heldEuros
    ? undefined
    : {
        code: 'amount_above_held',
        message: `url: the merchant asks for ${formatEuros(amount)}, ${formatEuros(heldEuros)} are held for the intent. Declare an intent for what it costs.`,
      }

const ofNetwork: Check = ({ card }, { networks }) =>
  networkOf(card.acceptedNetworks, networks)
    ? undefined
    : {
        code: 'network_not_accepted',
        message: `url: the merchant takes ${card.acceptedNetworks.slice(0, 10).join(', ')}; the card is of ${networks.join(', ')}.`,
      }

const ofBody: Check = ({ challenge: { digest } }, { body }) =>
  digest === undefined || digestMatches(digest, body ?? '')
    ? undefined
    : {
        code: 'digest_mismatch',
        message:
          'url: the challenge is for another body than that of this request. Send the body that is to be paid for.',
      }

const withoutBilling: Check = ({ card: { billingRequired } }) =>
  billingRequired
    ? {
        code: 'challenge_unusable',
        message: 'url: the merchant demands a billing address, and this service gives none.',
      }
    : undefined

/** A key from somewhere else could be anybody's. */
const ownKey: Check = ({ card: { key } }, { url }) =>
  'encryptionJwk' in key || URL.parse(key.jwksUri)?.origin === url.origin
    ? undefined
    : {
        code: 'merchant_key_unusable',
        message: `url: the challenge takes its key from ${URL.parse(key.jwksUri)?.host}, not from the merchant that was asked.`,
      }

/** A name in words proves nothing and is only shown; the address of another site is refused. */
const ownName: Check = ({ card: { merchantName } }, { url }) => {
  const named = calledHost(merchantName)
  const host = plainHost(url)
  if (named === undefined || isSameSite(host, named)) return undefined
  return {
    code: 'merchant_mismatch',
    message: `url: the merchant calls itself ${named}, and ${host} was asked. Pay at the address of the merchant.`,
  }
}

const checks = [inTime, inEuros, withinHeld, ofNetwork, ofBody, withoutBilling, ownKey, ownName]

/** Why nothing is minted for an offer; undefined where it can be paid. */
export function offerProblem(offer: CardOffer, terms: OfferTerms): OfferProblem | undefined {
  for (const check of checks) {
    const problem = check(offer, terms)
    if (problem) return problem
  }
  return undefined
}

/** The network that pays: the first that the merchant accepts. */
export const networkOf = (accepted: readonly string[], networks: readonly string[]): string | undefined =>
  accepted.find(network => networks.includes(network))

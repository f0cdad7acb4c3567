import {
  type CardPayload,
  type Challenge,
  type Credential,
  cardDetailsOf,
  cardPayloadOf,
  isOwnChallenge,
  isUnusable,
  requestOf,
} from '../../../mpp/index.ts'
import type { LiveKey, OfferingKey } from '../../mpp-keys/index.ts'
import type { Article } from './article.ts'
import { type Asked, digestOf, requestFor } from './offer.ts'

/** Why a credential pays nothing; the answer is a fresh challenge. */
export interface Rejected {
  readonly code: 'challenge_invalid' | 'challenge_expired' | 'payload_invalid' | 'payment_refused'
  readonly message: string
}

/** A credential for a challenge of ours that can be paid now, as far as that is told without its token. */
export interface Checked {
  readonly payload: CardPayload
  /** The key that the token must be encrypted to. */
  readonly key: LiveKey
}

const rejected = (code: Rejected['code'], message: string): Rejected => ({ code, message })

/** Checks a credential against the article it is presented for. Everything that was offered must come back unchanged. */
export function checkCredential(
  credential: Credential,
  article: Article,
  keys: readonly LiveKey[],
  asked: Asked,
): Checked | Rejected {
  const { challenge } = credential
  const key = keys.find(({ secret }) => isOwnChallenge(secret, challenge))
  if (!key || challenge.description !== undefined)
    return rejected('challenge_invalid', 'The challenge is none of ours, or something in it was changed.')
  const problem = bindingProblem(challenge, article, key, asked)
  if (problem) return rejected('challenge_invalid', problem)
  if (Date.parse(challenge.expires ?? '') <= article.now.getTime())
    return rejected('challenge_expired', 'The challenge has expired. Pay the fresh one.')
  const payload = cardPayloadOf(credential)
  if (isUnusable(payload)) return rejected('payload_invalid', payload.problem)
  if (!networksOf(challenge).includes(payload.network))
    return rejected('payment_refused', 'The network of the card is none of those that the challenge accepts.')
  return { payload, key }
}

/** Why a challenge of ours is not for this article, asked for here and with this body. */
function bindingProblem(
  challenge: Challenge,
  article: Article,
  key: OfferingKey,
  asked: Asked,
): string | undefined {
  if (challenge.realm !== asked.host) return 'The challenge was offered at another host.'
  if (challenge.digest !== digestOf(asked.body))
    return 'The challenge was offered for a request with another body.'
  const request = requestOf(challenge)
  if (isUnusable(request) || request.externalId !== article.externalId)
    return 'The challenge was offered for something else.'
  if (challenge.request !== requestFor(article, key.jwk))
    return 'What is to be paid has changed since the challenge was offered. Pay the fresh one.'
  return undefined
}

function networksOf(challenge: Challenge): readonly string[] {
  const request = requestOf(challenge)
  const details = isUnusable(request) ? request : cardDetailsOf(request)
  return isUnusable(details) ? [] : details.acceptedNetworks
}

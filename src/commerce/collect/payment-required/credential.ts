import {
  type CardPayload,
  type Challenge,
  type Credential,
  cardDetailsOf,
  cardPayloadOf,
  isObject,
  isOwnChallenge,
  isUnusable,
  requestOf,
} from '../../../mpp/index.ts'
import type { Acquirer } from '../../../ports/acquirer.ts'
import type { Vault } from '../../../ports/vault.ts'
import { decryptToken, type LiveKey, type OfferingKey } from '../../mpp-keys/index.ts'
import { type Article, digestOf, type RequestTarget, requestFor } from './offer.ts'

interface Rejected {
  readonly code: 'challenge_invalid' | 'challenge_expired' | 'payload_invalid' | 'payment_refused'
  readonly message: string
}

/** A credential for one of our challenges that can be paid now. Its token is not decrypted yet. */
interface ValidCredential {
  readonly payload: CardPayload
  readonly key: LiveKey
}

const rejected = (code: Rejected['code'], message: string): Rejected => ({ code, message })

/** Checks a credential against its article. Every offered member must come back unchanged. */
export function checkCredential(
  credential: Credential,
  article: Article,
  keys: readonly LiveKey[],
  asked: RequestTarget,
): ValidCredential | Rejected {
  const { challenge } = credential
  const key = keys.find(({ secret }) => isOwnChallenge(secret, challenge))
  if (!key || challenge.description !== undefined)
    return rejected('challenge_invalid', 'The challenge was not issued here, or was altered.')
  const problem = bindingProblem(challenge, article, key, asked)
  if (problem) return rejected('challenge_invalid', problem)
  if (Date.parse(challenge.expires ?? '') <= article.now.getTime())
    return rejected('challenge_expired', 'The challenge has expired. Pay the fresh one.')
  const payload = cardPayloadOf(credential)
  if (isUnusable(payload)) return rejected('payload_invalid', payload.problem)
  if (!networksOf(challenge).includes(payload.network))
    return rejected('payment_refused', 'The challenge does not accept the card’s network.')
  return { payload, key }
}

function bindingProblem(
  challenge: Challenge,
  article: Article,
  key: OfferingKey,
  asked: RequestTarget,
): string | undefined {
  if (challenge.realm !== asked.host) return 'The challenge was offered at another host.'
  if (challenge.digest !== digestOf(asked.body))
    return 'The challenge was offered for a request with another body.'
  const request = requestOf(challenge)
  if (isUnusable(request) || request.externalId !== article.externalId)
    return 'The challenge was offered for something else.'
  if (challenge.request !== requestFor(article, key.jwk))
    return 'The amount due has changed since the challenge was offered. Pay the fresh one.'
  return undefined
}

function networksOf(challenge: Challenge): readonly string[] {
  const request = requestOf(challenge)
  const details = isUnusable(request) ? request : cardDetailsOf(request)
  return isUnusable(details) ? [] : details.acceptedNetworks
}

export interface SealedToken {
  readonly jwe: string
  readonly kid: string
  readonly privateKey: string
  readonly challengeId: string
  readonly network: string
}

/** A token that the acquirer can charge. It is used once, immediately, and never stored. */
export interface ChargeableToken {
  readonly token: unknown
  readonly handle: string
  readonly last4: string
}

/** Decrypts a token and lets the acquirer validate it, which charges nothing. */
export async function openToken(
  { jwe, kid, privateKey, challengeId, network }: SealedToken,
  vault: Vault,
  acquirer: Acquirer,
): Promise<ChargeableToken | { readonly message: string }> {
  const decrypted = await decryptToken(jwe, kid, privateKey, vault)
  if ('unreadable' in decrypted) return { message: decrypted.unreadable }
  const { token } = decrypted
  if (isBoundElsewhere(token, challengeId)) return { message: 'The token is bound to another challenge.' }
  const accepted = acquirer.accept(token)
  if ('refused' in accepted) return { message: accepted.refused }
  if (accepted.network !== network)
    return { message: 'The token’s network is not the one in the credential.' }
  return { token, handle: accepted.handle, last4: accepted.last4 }
}

function isBoundElsewhere(token: unknown, challengeId: string): boolean {
  const binding = isObject(token) ? token.binding : undefined
  return isObject(binding) && binding.challengeId !== undefined && binding.challengeId !== challengeId
}

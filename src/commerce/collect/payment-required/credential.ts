import {
  type CardPayload,
  decodeChargeRequest,
  isJsonObject,
  isOwnChallenge,
  isUnusableInput,
  type PaymentChallenge,
  type PaymentCredential,
  readCardDetails,
  readCardPayload,
  readStripePayload,
  type StripePayload,
} from '../../../mpp/index.ts'
import type { Acquirer } from '../../../ports/acquirer.ts'
import type { Vault } from '../../../ports/vault.ts'
import { type CurrentMppKey, decryptMppToken, type UsableMppKey } from '../../mpp-keys/index.ts'
import {
  bodyDigest,
  type ChallengeTarget,
  encodeChargeRequest,
  offeredMethods,
  type PaidArticle,
} from './offer.ts'

interface Rejected {
  readonly code: 'challenge_invalid' | 'challenge_expired' | 'payload_invalid' | 'payment_refused'
  readonly message: string
}

/** A credential for one of our challenges that can be paid now. A card's token is not decrypted yet. */
interface ValidCredential {
  readonly payload: CardPayload | StripePayload
  readonly key: UsableMppKey
}

const rejected = (code: Rejected['code'], message: string): Rejected => ({ code, message })

/** Checks a credential against its article. Every offered member must come back unchanged. */
export function checkPaymentCredential(
  credential: PaymentCredential,
  article: PaidArticle,
  keys: readonly UsableMppKey[],
  asked: ChallengeTarget,
): ValidCredential | Rejected {
  const { challenge } = credential
  const key = keys.find(({ secret }) => isOwnChallenge(secret, challenge))
  if (!key || challenge.description !== undefined)
    return rejected('challenge_invalid', 'The challenge was not issued here, or was altered.')
  const problem = bindingProblem(challenge, article, key, asked)
  if (problem) return rejected('challenge_invalid', problem)
  if (Date.parse(challenge.expires ?? '') <= article.now.getTime())
    return rejected('challenge_expired', 'The challenge has expired. Pay the fresh one.')
  const isCard = challenge.method === 'card'
  const payload = isCard ? readCardPayload(credential) : readStripePayload(credential)
  if (isUnusableInput(payload)) return rejected('payload_invalid', payload.problem)
  if ('encryptedPayload' in payload && !networksOf(challenge).includes(payload.network))
    return rejected('payment_refused', 'The challenge does not accept the card’s network.')
  return { payload, key }
}

function bindingProblem(
  challenge: PaymentChallenge,
  article: PaidArticle,
  key: CurrentMppKey,
  asked: ChallengeTarget,
): string | undefined {
  if (challenge.realm !== asked.host) return 'The challenge was offered at another host.'
  if (challenge.digest !== bodyDigest(asked.body))
    return 'The challenge was offered for a request with another body.'
  const request = decodeChargeRequest(challenge)
  if (isUnusableInput(request) || request.externalId !== article.externalId)
    return 'The challenge was offered for something else.'
  const method = offeredMethods(article).find(one => one === challenge.method)
  if (!method || challenge.request !== encodeChargeRequest(article, key.jwk, method))
    return 'The amount due has changed since the challenge was offered. Pay the fresh one.'
  return undefined
}

function networksOf(challenge: PaymentChallenge): readonly string[] {
  const request = decodeChargeRequest(challenge)
  const details = isUnusableInput(request) ? request : readCardDetails(request)
  return isUnusableInput(details) ? [] : details.acceptedNetworks
}

export interface EncryptedNetworkToken {
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
  readonly last4: string | null
}

/** Decrypts a token and lets the acquirer validate it, which charges nothing. */
export async function decryptNetworkToken(
  { jwe, kid, privateKey, challengeId, network }: EncryptedNetworkToken,
  vault: Vault,
  acquirer: Acquirer,
): Promise<ChargeableToken | { readonly message: string }> {
  const decrypted = await decryptMppToken(jwe, kid, privateKey, vault)
  if ('unreadable' in decrypted) return { message: decrypted.unreadable }
  const { token } = decrypted
  if (isBoundElsewhere(token, challengeId)) return { message: 'The token is bound to another challenge.' }
  const accepted = acquirer.accept(token)
  if ('refused' in accepted) return { message: accepted.refused }
  if (accepted.network !== network)
    return { message: 'The token’s network is not the one in the credential.' }
  return { token, handle: accepted.handle, last4: accepted.last4 }
}

/** A shared payment token, which only its charge validates. */
export interface SharedPaymentToken {
  readonly spt: string
  readonly challengeId: string
  readonly network: string
}

export function acceptSharedToken(
  { spt }: SharedPaymentToken,
  { sharedTokens }: Acquirer,
): ChargeableToken | { readonly message: string } {
  const accepted = sharedTokens?.accept(spt) ?? { refused: 'Shared payment tokens are not charged here.' }
  if ('refused' in accepted) return { message: accepted.refused }
  return { token: spt, handle: accepted.handle, last4: accepted.last4 }
}

function isBoundElsewhere(token: unknown, challengeId: string): boolean {
  const binding = isJsonObject(token) ? token.binding : undefined
  return isJsonObject(binding) && binding.challengeId !== undefined && binding.challengeId !== challengeId
}

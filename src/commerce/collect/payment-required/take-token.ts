import { isObject } from '../../../mpp/index.ts'
import type { Acquirer } from '../../../ports/acquirer.ts'
import type { Vault } from '../../../ports/vault.ts'
import { decryptToken } from '../../mpp-keys/index.ts'

/** The token of a credential as it is encrypted, with what is needed to read it. */
export interface SealedToken {
  readonly jwe: string
  readonly kid: string
  /** The private key, as the vault has sealed it. */
  readonly privateKey: string
  readonly challengeId: string
  readonly network: string
}

/** A token that the acquirer can charge. It is used once, right away, and kept nowhere. */
export interface TakenToken {
  readonly token: unknown
  readonly handle: string
  readonly last4: string
}

export interface NotTaken {
  readonly message: string
}

/** Decrypts a token and has the acquirer look at it, which charges nothing. */
export async function takeToken(
  { jwe, kid, privateKey, challengeId, network }: SealedToken,
  vault: Vault,
  acquirer: Acquirer,
): Promise<TakenToken | NotTaken> {
  const decrypted = await decryptToken(jwe, kid, privateKey, vault)
  if ('unreadable' in decrypted) return { message: decrypted.unreadable }
  const { token } = decrypted
  if (isForAnother(token, challengeId)) return { message: 'The token is bound to another challenge.' }
  const accepted = acquirer.accept(token)
  if ('refused' in accepted) return { message: accepted.refused }
  if (accepted.network !== network)
    return { message: 'The token is not of the network that the credential names.' }
  return { token, handle: accepted.handle, last4: accepted.last4 }
}

/** Whether the payer has bound the token to a challenge, and not to this one. */
function isForAnother(token: unknown, challengeId: string): boolean {
  const binding = isObject(token) ? token.binding : undefined
  return isObject(binding) && binding.challengeId !== undefined && binding.challengeId !== challengeId
}

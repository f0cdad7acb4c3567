import type { Mode } from '../../../kernel/contract/actor.ts'
import {
  type CardDetails,
  isObject,
  type MerchantKey,
  merchantKeyOf,
  merchantKeyProblem,
} from '../../../mpp/index.ts'
import { askRefusals } from '../refusals.ts'
import { asksOwnListener } from './address.ts'
import { AT_ONCE, type Outside, unanswered } from './outside.ts'
import type { PayProblem } from './reservation.ts'

const KEYS_MS = 5_000
const KEYS_BYTES = 65_536

/** The merchant's key: from the challenge, or from the merchant's own origin. */
export async function fetchMerchantKey(
  { key }: CardDetails,
  mode: Mode,
  { ports }: Outside,
): Promise<MerchantKey | PayProblem> {
  if ('encryptionJwk' in key) return key.encryptionJwk
  const answer = await ports.outbound.send({
    url: key.jwksUri,
    method: 'GET',
    headers: { accept: 'application/jwk-set+json, application/json' },
    timeoutMs: KEYS_MS,
    maxBytes: KEYS_BYTES,
    ownListener: asksOwnListener(mode),
    atOnce: AT_ONCE,
  })
  if (answer.kind !== 'answered') return unanswered(answer)
  if (answer.status !== 200 || answer.cut)
    return {
      code: 'merchant_unusable',
      message: `${askRefusals.merchant_unusable[1]} Its keys were answered with ${answer.cut ? 'too much' : answer.status}.`,
    }
  return keyIn(answer.body, key.kid)
}

/** The one key of this name in a key set. */
export function keyIn(body: Uint8Array, kid: string): MerchantKey | PayProblem {
  const named = keysIn(body).filter(key => isObject(key) && key.kid === kid)
  const [jwk] = named
  if (named.length !== 1 || !isObject(jwk))
    return unusable('The jwksUri of the merchant does not give the one key that its challenge names.')
  const problem = merchantKeyProblem(jwk)
  return problem === undefined ? merchantKeyOf(jwk) : unusable(problem)
}

const unusable = (sentence: string): PayProblem => ({
  code: 'merchant_key_unusable',
  message: `url: ${sentence}`,
})

function keysIn(body: Uint8Array): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isObject(value) && Array.isArray(value.keys) ? value.keys : []
  } catch {
    return []
  }
}

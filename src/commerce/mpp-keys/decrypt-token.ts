import { createDecipheriv, createSecretKey, type webcrypto } from 'node:crypto'
import { fromBase64url } from '../../mpp/index.ts'
import type { Vault } from '../../ports/vault.ts'
import { memoizeByWeight } from '../../values/bounded-cache.ts'
import { openMppPrivateKey } from './mpp-key.ts'

export interface UnreadableToken {
  readonly unreadable: string
}

const unreadable = (why: string): UnreadableToken => ({ unreadable: why })

const RSA_OAEP = { name: 'RSA-OAEP', hash: 'SHA-256' }
const AUTH_TAG_BYTES = 16

/** Importing a key takes as long as decrypting a token, so imported keys are cached. */
const opened = memoizeByWeight<Promise<webcrypto.CryptoKey>>(200, () => 1)

const openedKey = (kid: string, sealed: string, vault: Vault): Promise<webcrypto.CryptoKey> =>
  opened(sealed, () =>
    crypto.subtle.importKey('jwk', openMppPrivateKey(vault, kid, sealed), RSA_OAEP, false, ['decrypt']),
  )

interface Parsed {
  readonly header: string
  readonly parts: readonly [key: Buffer, iv: Buffer, text: Buffer, tag: Buffer]
}

/**
 * RSA runs in Node's own threads, so the event loop is not blocked. Other algorithms, compression and other
 * keys are refused.
 */
export async function decryptMppToken(
  jwe: string,
  kid: string,
  privateKey: string,
  vault: Vault,
): Promise<{ readonly token: unknown } | UnreadableToken> {
  const parsed = parse(jwe, kid)
  if ('unreadable' in parsed) return parsed
  const key = await openedKey(kid, privateKey, vault)
  const {
    header,
    parts: [wrapped, iv, text, tag],
  } = parsed
  try {
    const contentKey = await crypto.subtle.decrypt(RSA_OAEP, key, wrapped)
    const decipher = createDecipheriv('aes-256-gcm', createSecretKey(Buffer.from(contentKey)), iv, {
      authTagLength: AUTH_TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(header, 'ascii')).setAuthTag(tag)
    const plain = Buffer.concat([decipher.update(text), decipher.final()])
    return { token: JSON.parse(plain.toString('utf8')) as unknown }
  } catch {
    return unreadable(
      'The token cannot be decrypted: it was encrypted to another key, or changed in transit.',
    )
  }
}

function parse(jwe: string, kid: string): Parsed | UnreadableToken {
  const [header = '', ...encoded] = jwe.split('.')
  const problem = headerProblem(header, kid)
  if (problem) return unreadable(problem)
  const parts = encoded.map(fromBase64url)
  if (parts.length !== 4 || parts.includes(undefined)) return unreadable('The token is not a compact JWE.')
  return { header, parts: parts as unknown as Parsed['parts'] }
}

const HARMLESS = ['alg', 'enc', 'kid', 'typ', 'cty']

function headerProblem(encoded: string, kid: string): string | undefined {
  const header = headerOf(encoded)
  if (!header) return 'The token is not a compact JWE.'
  if ('zip' in header) return 'The token is compressed, which is not supported.'
  if (header.alg !== 'RSA-OAEP-256' || header.enc !== 'A256GCM')
    return 'The token is not encrypted with RSA-OAEP-256 and A256GCM.'
  if (header.kid !== kid) return 'The token names another key than the challenge.'
  const stranger = Object.keys(header).find(name => !HARMLESS.includes(name))
  return stranger === undefined ? undefined : 'The header of the token has an unsupported parameter.'
}

function headerOf(encoded: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(fromBase64url(encoded)?.toString('utf8') ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

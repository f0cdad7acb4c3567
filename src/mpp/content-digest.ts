import { hash, timingSafeEqual } from 'node:crypto'

/** The digest of a body as RFC 9530 writes it: `sha-256=:…:`. */
export const contentDigest = (body: string | Uint8Array): string =>
  `sha-256=:${hash('sha256', body, 'base64')}:`

/** SHA-256 in base64 and base64url, with and without the colons of RFC 9530: the peers leave them out. */
const SHA_256 = /^sha-256=:?([A-Za-z0-9+/_-]{43}=?):?$/i

/** Whether a digest is that of this body. One of another kind than SHA-256 is not. */
export function digestMatches(header: string, body: string | Uint8Array): boolean {
  const [, given] = SHA_256.exec(header.trim()) ?? []
  if (given === undefined) return false
  return timingSafeEqual(Buffer.from(given, 'base64'), hash('sha256', body, 'buffer'))
}

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Challenge } from './challenge.ts'

/** What an id binds: all that is offered but the description, which is for people. */
export type Offer = Omit<Challenge, 'id' | 'description'>

/**
 * The id of a challenge: an HMAC-SHA256 over its parameters, each in its place, an absent one empty. The place of
 * `header` exists only where one other than `Authorization` is asked for.
 */
export function challengeId(secret: string | Uint8Array, offer: Offer): string {
  const { realm, method, intent, request, expires = '', digest = '', header, opaque = '' } = offer
  const isDefault = header === undefined || header.toLowerCase() === 'authorization'
  const places = [realm, method, intent, request, expires, digest, ...(isDefault ? [] : [header]), opaque]
  return createHmac('sha256', secret).update(places.join('|')).digest('base64url')
}

/** Whether a challenge was made with this secret, compared in constant time. */
export function isOwnChallenge(secret: string | Uint8Array, challenge: Challenge): boolean {
  const given = Buffer.from(challenge.id)
  const made = Buffer.from(challengeId(secret, challenge))
  return given.length === made.length && timingSafeEqual(given, made)
}

import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Secrets } from './sandbox-numbers.ts'

/** The card and the token that a cryptogram of the sandbox was made for. */
export interface SealedToken {
  readonly processorCardId: string
  readonly tokenId: string
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Above every cryptogram that the sandbox makes. */
const LONGEST = 500

const Names = z.strictObject({ processorCardId: z.string(), tokenId: z.string() })

/**
 * The cryptogram of a machine payment: with it the sandbox's acquirer finds the card, although neither it nor the
 * sandbox's processor keeps anything.
 */
export function sealedCryptogram([secret]: Secrets, names: SealedToken): string {
  if (!secret) throw new Error('The sandbox needs a secret to make cryptograms with.')
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, createSecretKey(secret), nonce, { authTagLength: TAG_BYTES })
  const text = Buffer.concat([cipher.update(JSON.stringify(names)), cipher.final()])
  return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')
}

/** Null for a text that the sandbox has not made with any of these secrets. */
export function openCryptogram(secrets: Secrets, cryptogram: string): SealedToken | null {
  if (cryptogram.length > LONGEST) return null
  const bytes = Buffer.from(cryptogram, 'base64url')
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null
  for (const secret of secrets) {
    const text = opened(secret, bytes)
    if (text) return Names.parse(JSON.parse(text))
  }
  return null
}

function opened(secret: Buffer, bytes: Buffer): string | undefined {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, createSecretKey(secret), nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

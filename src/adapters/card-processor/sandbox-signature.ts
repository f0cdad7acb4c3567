import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { CardMessageHeaders } from '../../ports/card-processor.ts'
import { clock, minutes } from '../../values/clock.ts'

const HEADER = 'card-processor-signature'

const VALID_FOR = minutes(5)
const FORM = /^t=(?<seconds>\d{1,12}),v1=(?<signature>[\da-f]{64})$/

const keys = new WeakMap<Buffer, KeyObject>()

/** Cached: making a key object takes four times as long as signing with it. */
function keyOf(secret: Buffer): KeyObject {
  const key = keys.get(secret) ?? createSecretKey(secret)
  keys.set(secret, key)
  return key
}

const signatureOf = (secret: Buffer, seconds: string, body: Uint8Array): Buffer =>
  createHmac('sha256', keyOf(secret)).update(`${seconds}.`).update(body).digest()

export const hasSandboxSignature = (headers: CardMessageHeaders, header = HEADER): boolean =>
  headers[header] !== undefined

/** The real time in seconds, and an HMAC-SHA256 over it and the raw bytes by the current secret. */
export function sandboxSignatureHeaders(
  [secret]: readonly Buffer[],
  body: string,
  header = HEADER,
): Record<string, string> {
  if (!secret) throw new Error('The sandbox needs a secret to sign messages with.')
  const seconds = String(Math.floor(clock.milliseconds() / 1_000))
  return { [header]: `t=${seconds},v1=${signatureOf(secret, seconds, Buffer.from(body)).toString('hex')}` }
}

export function sandboxSignatureProblem(
  secrets: readonly Buffer[],
  body: Uint8Array,
  headers: CardMessageHeaders,
  now: Date,
  name = HEADER,
): string | null {
  const header = headers[name]
  if (header === undefined) return 'The message has no signature.'
  const { seconds = '', signature = '' } = FORM.exec(header)?.groups ?? {}
  if (!signature) return 'The signature is not of the form t=<seconds>,v1=<64 hexadecimal digits>.'
  const given = Buffer.from(signature, 'hex')
  if (!secrets.some(secret => timingSafeEqual(given, signatureOf(secret, seconds, body))))
    return 'The signature is not that of this message.'
  const isRecent = Math.abs(now.getTime() - Number(seconds) * 1_000) <= VALID_FOR
  return isRecent ? null : 'The signature was not made within five minutes of now.'
}

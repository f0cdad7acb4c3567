import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { SharedTokenOrder } from '../../ports/card-processor.ts'
import type { CardData } from './encrypt.ts'
import { ENCODED_FAULT_PATTERN } from './sandbox-faults.ts'

/**
 * Prefixes that no real card can have. In ISO/IEC 7812-1 a first digit 9 is followed by the numeric country
 * code of ISO 3166-1, and 900 to 999 are never assigned to a country.
 */
const CARDS = '9999'
const TOKENS = '9998'
const FREE_DIGITS = 11

const YEARS = 4

export type ProcessorSecrets = readonly Buffer[]

/** An id identifies the secret and the expiry of its card, so that everything else is derived from the id alone. */
const CARD_ID = new RegExp(
  `^sandboxcard_(?<secret>[a-p]{6})_(?<year>\\d{4})(?<month>\\d{2})_[a-p]{32}(?<faultNote>${ENCODED_FAULT_PATTERN})$`,
)
const TOKEN_ID = new RegExp(
  `^sandboxtoken_(?<secret>[a-p]{6})_[a-p]{32}(?<faultNote>${ENCODED_FAULT_PATTERN})$`,
)

const DISPUTE_ID = /^sandboxdispute_(?<secret>[a-p]{6})_[a-p]{32}$/

export interface SandboxCard {
  readonly data: CardData
  readonly faultNote: string
}

/** As a key object: Node takes ten times as long with bytes. */
const digest = (secret: Buffer, ...parts: readonly string[]): Buffer =>
  createHmac('sha256', createSecretKey(secret)).update(JSON.stringify(parts)).digest()

/** Letters only: no digits of an id may look like those of a card. */
const letters = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/[\da-f]/g, digit => String.fromCharCode(97 + Number.parseInt(digit, 16)))

const tagOf = (secret: Buffer): string => letters(digest(secret, 'secret')).slice(0, 6)

const current = ([secret]: ProcessorSecrets): Buffer => {
  if (!secret) throw new Error('The sandbox needs a secret to derive numbers from.')
  return secret
}

function partsOf(secrets: ProcessorSecrets, form: RegExp, id: string) {
  const parts = form.exec(id)?.groups
  const secret = parts && secrets.find(one => tagOf(one) === parts.secret)
  return secret ? { secret, parts } : null
}

function digitsFrom(bytes: Buffer, count: number): string {
  const value = BigInt(`0x${bytes.toString('hex')}`) % 10n ** BigInt(count)
  return String(value).padStart(count, '0')
}

function withCheckDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

const numberFrom = (beginning: string, bytes: Buffer): string =>
  withCheckDigit(`${beginning}${digitsFrom(bytes, FREE_DIGITS)}`)

export function sandboxCardId(
  secrets: ProcessorSecrets,
  reference: string,
  requestedAt: Date,
  faultNote = '',
): string {
  const secret = current(secrets)
  const month = requestedAt.toISOString().slice(5, 7)
  const hash = letters(digest(secret, 'card', reference)).slice(0, 32)
  return `sandboxcard_${tagOf(secret)}_${requestedAt.getUTCFullYear() + YEARS}${month}_${hash}${faultNote}`
}

export function sandboxCardById(secrets: ProcessorSecrets, processorCardId: string): SandboxCard | null {
  const known = partsOf(secrets, CARD_ID, processorCardId)
  if (!known) return null
  const { secret, parts } = known
  const data = {
    number: numberFrom(CARDS, digest(secret, 'number', processorCardId)),
    expMonth: Number(parts.month),
    expYear: Number(parts.year),
    cvc: digitsFrom(digest(secret, 'cvc', processorCardId), 3),
  }
  return { data, faultNote: parts.faultNote ?? '' }
}

export function sandboxTokenId(
  secrets: ProcessorSecrets,
  reference: string,
  { faultNote }: SandboxCard,
): string {
  const secret = current(secrets)
  return `sandboxtoken_${tagOf(secret)}_${letters(digest(secret, 'token', reference)).slice(0, 32)}${faultNote}`
}

interface SandboxToken {
  readonly number: string
  readonly cryptogram: string
  readonly faultNote: string
}

export function sandboxTokenById(secrets: ProcessorSecrets, tokenId: string): SandboxToken | null {
  const known = partsOf(secrets, TOKEN_ID, tokenId)
  if (!known) return null
  const { secret, parts } = known
  return {
    number: numberFrom(TOKENS, digest(secret, 'token number', tokenId)),
    cryptogram: digest(secret, 'cryptogram', tokenId).subarray(0, 20).toString('base64'),
    faultNote: parts.faultNote ?? '',
  }
}

export function sandboxDisputeId(secrets: ProcessorSecrets, reference: string): string {
  const secret = current(secrets)
  return `sandboxdispute_${tagOf(secret)}_${letters(digest(secret, 'dispute', reference)).slice(0, 32)}`
}

export const isSandboxDisputeId = (secrets: ProcessorSecrets, disputeId: string): boolean =>
  partsOf(secrets, DISPUTE_ID, disputeId) !== null

export interface CryptogramContent {
  readonly processorCardId: string
  readonly tokenId: string
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LONGEST = 500

const Names = z.strictObject({ processorCardId: z.string(), tokenId: z.string() })

/**
 * The cryptogram of a machine payment contains the ids, encrypted: with it the sandbox's acquirer finds the
 * card, although neither it nor the processor stores anything.
 */
export const encryptCryptogram = (secrets: ProcessorSecrets, names: CryptogramContent): string =>
  encrypt(current(secrets), randomBytes(NONCE_BYTES), JSON.stringify(names))

export function decryptCryptogram(secrets: ProcessorSecrets, cryptogram: string): CryptogramContent | null {
  const text = cryptogram.length > LONGEST ? null : decrypt(secrets, cryptogram)
  return text === null ? null : (Names.safeParse(JSON.parse(text)).data ?? null)
}

const SHARED_TOKEN = /^spt_sandbox_(?<sealed>[\w-]{1,1000})$/

const Order = z.strictObject({
  processorCardId: z.string(),
  seller: z.string(),
  amount: z.string(),
  currency: z.string(),
  expiresAt: z.string(),
})

/** A shared payment token contains its order, encrypted, without the address of a page. The same reference and order make the same token. */
export function sandboxSharedToken(
  secrets: ProcessorSecrets,
  reference: string,
  order: SharedTokenOrder,
): string {
  const secret = current(secrets)
  const { processorCardId, seller, amount, currency, expiresAt } = order
  const text = JSON.stringify({ processorCardId, seller, amount, currency, expiresAt })
  const nonce = digest(secret, 'shared token', reference, text).subarray(0, NONCE_BYTES)
  return `spt_sandbox_${encrypt(secret, nonce, text)}`
}

export function sandboxSharedTokenById(secrets: ProcessorSecrets, tokenId: string): SharedTokenOrder | null {
  const { sealed = '' } = SHARED_TOKEN.exec(tokenId)?.groups ?? {}
  const text = decrypt(secrets, sealed)
  return text === null ? null : (Order.safeParse(JSON.parse(text)).data ?? null)
}

function encrypt(secret: Buffer, nonce: Buffer, content: string): string {
  const cipher = createCipheriv(ALGORITHM, createSecretKey(secret), nonce, { authTagLength: TAG_BYTES })
  const text = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')
}

function decrypt(secrets: ProcessorSecrets, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null
  for (const secret of secrets) {
    const text = opened(secret, bytes)
    if (text !== undefined) return text
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

import { createHmac } from 'node:crypto'
import type { IssuedCard } from '../../ports/card-processor.ts'
import type { CardData, TokenData } from './encrypt.ts'

/**
 * Beginnings of numbers that no real card can have. In ISO/IEC 7812-1 a first digit 9 is followed by the numeric country
 * code of ISO 3166-1, and 900 to 999 are codes that are never given to a country.
 */
const CARDS = '9999'
const TOKENS = '9998'
/** 16 digits, without the beginning and the check digit. */
const FREE_DIGITS = 11

/** The years from the request to the end that is printed on the card. */
const YEARS = 4

type Secrets = readonly Buffer[]

/** An id says by which secret and until when its card was made, so that everything else is derived from it alone. */
const CARD_ID = /^sandboxcard_(?<secret>[a-p]{6})_(?<year>\d{4})(?<month>\d{2})_[a-p]{32}$/
const TOKEN_ID = /^sandboxtoken_(?<secret>[a-p]{6})_[a-p]{32}$/

const digest = (secret: Buffer, ...parts: readonly string[]): Buffer =>
  createHmac('sha256', secret).update(JSON.stringify(parts)).digest()

/** Letters only: no digits of an id may look like those of a card. */
const letters = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/[\da-f]/g, digit => String.fromCharCode(97 + Number.parseInt(digit, 16)))

const tagOf = (secret: Buffer): string => letters(digest(secret, 'secret')).slice(0, 6)

const current = ([secret]: Secrets): Buffer => {
  if (!secret) throw new Error('The sandbox needs a secret to derive numbers from.')
  return secret
}

const madeBy = (secrets: Secrets, id: RegExpExecArray | null): Buffer | undefined =>
  id ? secrets.find(secret => tagOf(secret) === id.groups?.secret) : undefined

function digitsFrom(bytes: Buffer, count: number): string {
  const value = BigInt(`0x${bytes.toString('hex')}`) % 10n ** BigInt(count)
  return String(value).padStart(count, '0')
}

/** The check digit of ISO/IEC 7812-1, with which a number ends. */
function withCheckDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

const numberFrom = (beginning: string, bytes: Buffer): string =>
  withCheckDigit(`${beginning}${digitsFrom(bytes, FREE_DIGITS)}`)

/** The id of the card that a reference has issued, or will. */
export function cardIdFor(secrets: Secrets, reference: string, requestedAt: Date): string {
  const secret = current(secrets)
  const month = requestedAt.toISOString().slice(5, 7)
  const hash = letters(digest(secret, 'card', reference)).slice(0, 32)
  return `sandboxcard_${tagOf(secret)}_${requestedAt.getUTCFullYear() + YEARS}${month}_${hash}`
}

/** Null for an id that the sandbox has not made with any of these secrets. */
export function cardOf(secrets: Secrets, processorCardId: string): CardData | null {
  const id = CARD_ID.exec(processorCardId)
  const secret = madeBy(secrets, id)
  if (!secret) return null
  return {
    number: numberFrom(CARDS, digest(secret, 'number', processorCardId)),
    expMonth: Number(id?.groups?.month),
    expYear: Number(id?.groups?.year),
    cvc: digitsFrom(digest(secret, 'cvc', processorCardId), 3),
  }
}

/** What may be known of a card. */
export function issuedCard(secrets: Secrets, processorCardId: string): IssuedCard | null {
  const card = cardOf(secrets, processorCardId)
  if (!card) return null
  const { number, expMonth, expYear } = card
  return { processorCardId, brand: 'sandbox', last4: number.slice(-4), expMonth, expYear }
}

export const tokenIdFor = (secrets: Secrets, reference: string): string => {
  const secret = current(secrets)
  return `sandboxtoken_${tagOf(secret)}_${letters(digest(secret, 'token', reference)).slice(0, 32)}`
}

export const isTokenId = (secrets: Secrets, tokenId: string): boolean =>
  madeBy(secrets, TOKEN_ID.exec(tokenId)) !== undefined

/** The token of a card: another number and a cryptogram, with the end of the card. */
export function tokenOf(secrets: Secrets, tokenId: string, card: CardData): TokenData | null {
  const secret = madeBy(secrets, TOKEN_ID.exec(tokenId))
  if (!secret) return null
  return {
    number: numberFrom(TOKENS, digest(secret, 'token number', tokenId)),
    expMonth: card.expMonth,
    expYear: card.expYear,
    cryptogram: digest(secret, 'cryptogram', tokenId).subarray(0, 20).toString('base64'),
  }
}

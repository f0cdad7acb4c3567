import { z } from 'zod'
import { ibanLength, ibanProblem, normalizeIban } from './iban.ts'

/** The check digit of ISO/IEC 7812: every second digit from the right counts twice. */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 1; place <= digits.length; place++) {
    const value = Number(digits[digits.length - place]) * (place % 2 === 0 ? 2 : 1)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

/**
 * The lengths of card numbers by their first digits (ISO/IEC 7812, the ranges of the networks). Numbers of the sandbox
 * begin with 999, which no country has. Those with less than 14 digits are left out: too many other numbers look like them.
 */
const LENGTHS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [16, 19]],
  [/^(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|9(?:99[89]|792|860))/, [16]],
  [/^3[47]/, [15]],
  [/^(?:3(?:0[0-59]|[689])|5018|5020|5038|5893|6304|67)/, [14, 15, 16, 17, 18, 19]],
  [/^(?:220[0-4]|35(?:2[89]|[3-8])|50|5[6-8]|6)/, [16, 17, 18, 19]],
]
const MAX_DIGITS = 19

/** After how many digits a number is parted: not at all, in fours, or as American Express and Diners do. */
const PARTINGS: readonly string[] = ['', '4,8,12', '4,8,12,16', '4,10']

const hasLengthOfCard = (digits: string): boolean =>
  LENGTHS.some(([prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits))

export const isCardNumber = (digits: string): boolean => hasLengthOfCard(digits) && passesLuhn(digits)

/** A number that JSON cannot hold exactly has lost its check digit: its length and beginning decide. */
export const isCardNumberInJson = (value: number): boolean => {
  if (!Number.isInteger(value)) return false
  const digits = String(Math.abs(value))
  return Number.isSafeInteger(value) ? isCardNumber(digits) : hasLengthOfCard(digits)
}

/** The form of RFC 9562. Some random UUIDs look like a card number in groups. */
const UUID_HERE =
  /(?<![\da-z])[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}(?![\da-z])/iy
/** Where in a UUID 14 digits have room. */
const PLACES_IN_UUID = Array.from({ length: 23 }, (_, place) => place)

const isWithinUuid = (text: string, at: number): boolean =>
  PLACES_IN_UUID.some(place => {
    UUID_HERE.lastIndex = at - place
    return at >= place && UUID_HERE.test(text)
  })

/** No IBAN is longer, with its spaces. */
const LONGEST_IBAN = 42
const IBAN_BEGINNING = /(?<![\da-z])[a-z]{2}\d{2}/gi
/** After this many in one text a number counts even if it may be a part of an IBAN. */
const MAX_IBANS = 1_000

/** The digits belong to an IBAN in groups of four. */
function isWithinIban(text: string, at: number): boolean {
  const from = Math.max(0, at - LONGEST_IBAN)
  const before = text.slice(from, at)
  return [...before.matchAll(IBAN_BEGINNING)].some(({ index }) => {
    const iban = normalizeIban(text.slice(from + index, from + index + LONGEST_IBAN))
    const length = ibanLength(iban)
    return (
      normalizeIban(before.slice(index)).length < length && ibanProblem(iban.slice(0, length)) === undefined
    )
  })
}

interface Borders {
  readonly beginning: RegExp
  /** What does not follow a number. */
  readonly noEnd: RegExp
}

/** Ids from random bits or the time hardly ever contain a separate number. */
const SEPARATE: Borders = { beginning: /(?<![\da-z])[2-69]\d{3}/gi, noEnd: /[\da-z]/i }
const BESIDE_LETTERS: Borders = { beginning: /(?<!\d)[2-69]\d{3}/g, noEnd: /\d/ }

const isDigit = (character = ''): boolean => character >= '0' && character <= '9'

/** All parts of a number are separated alike. */
const isSeparator = (character: string | undefined, earlier = character): boolean =>
  (character === ' ' || character === '-') && character === earlier

/** The end of the longest card number that begins here; undefined if none does. */
function endOfNumber(text: string, start: number, noEnd: RegExp): number | undefined {
  let [digits, at, end, separator] = [
    '',
    start,
    undefined as number | undefined,
    undefined as string | undefined,
  ]
  const parts: number[] = []
  while (digits.length < MAX_DIGITS) {
    const character = text[at]
    if (isDigit(character)) digits += character
    else if (isSeparator(character, separator) && isDigit(text[at + 1])) {
      separator = character
      parts.push(digits.length)
    } else break
    at++
    if (
      isDigit(character) &&
      !noEnd.test(text[at] ?? '') &&
      PARTINGS.includes(parts.join()) &&
      isCardNumber(digits)
    )
      end = at
  }
  return end
}

/** In a text where more numbers begin, every long number in the rest counts without a closer look. */
const MAX_LOOKS = 10_000
const LONG_NUMBER = /\d(?:[ -]?\d){13,}/g

interface Found {
  readonly start: number
  readonly end: number
}

/** Where a text has card numbers, in linear time: digits whose beginning, length, check digit and borders are a card's. */
export function* cardNumbersIn(text: string, { besideLetters = false } = {}): Generator<Found> {
  const { beginning, noEnd } = besideLetters ? BESIDE_LETTERS : SEPARATE
  let [from, looks, ibans] = [0, 0, 0]
  const next = () => {
    beginning.lastIndex = from
    return looks++ < MAX_LOOKS ? beginning.exec(text) : null
  }
  for (let found = next(); found; found = next()) {
    const { index: start } = found
    const end = endOfNumber(text, start, noEnd)
    from = start + 1
    if (end === undefined || isWithinUuid(text, start)) continue
    if (text[start - 1] === ' ' && ibans++ < MAX_IBANS && isWithinIban(text, start)) continue
    from = end
    yield { start, end }
  }
  if (looks <= MAX_LOOKS) return
  for (const { index, 0: number } of text.slice(from).matchAll(LONG_NUMBER))
    yield { start: from + index, end: from + index + number.length }
}

const containsNumber = (text: string, options?: Parameters<typeof cardNumbersIn>[1]): boolean =>
  cardNumbersIn(text, options).next().done === false

/** Ids and keys are random: a number among their letters is none. */
export const isCardNumberInId = (id: string): boolean => containsNumber(id)

export function hasCardNumber(value: unknown): boolean {
  if (typeof value === 'string') return containsNumber(value, { besideLetters: true })
  if (typeof value === 'number') return isCardNumberInJson(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => hasCardNumber(name) || hasCardNumber(member))
}

/** Some members are random, as ids are. */
function hasCardNumberBeside(value: unknown, random: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null || random.length === 0) return hasCardNumber(value)
  return Object.entries(value).some(([name, member]) =>
    random.includes(name) && typeof member === 'string'
      ? isCardNumberInId(member)
      : hasCardNumber({ [name]: member }),
  )
}

/**
 * Refuses a body with a card number in any member: this service must never receive one. In random members a number among
 * letters is none.
 */
export const refuseCardNumbers = <T extends z.ZodObject>(
  body: T,
  instead = 'send the token that the processor gave you.',
  { random = [] }: { readonly random?: readonly string[] } = {},
) =>
  z.preprocess<unknown, T, z.input<T>>((input, context) => {
    if (!hasCardNumberBeside(input, random)) return input
    context.issues.push({
      code: 'custom',
      message: `This looks like the number of a card. Never send one: ${instead}`,
      input: undefined,
    })
    return z.NEVER
  }, body)

import { isWithinUuid, passesLuhn } from './card-number.ts'
import { ibanLength, ibanProblem, normalizeIban } from './iban.ts'

/**
 * The lengths of card numbers by their first digits. Those of the sandbox begin with a nine, as national
 * schemes do. Shorter ones are not masked: too many other numbers look like them.
 */
const LENGTHS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^(?:4|35)/, [19, 18, 17, 16]],
  [/^(?:5[1-5]|2[2-7]|9)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:3[0689]|5[06-8]|6)/, [19, 18, 17, 16, 15, 14]],
]
const MAX_DIGITS = 19

/**
 * Alone or in groups of three digits and more, beside no letter and no other digit: ids from random bits or
 * the time hardly ever contain such a number.
 */
const BEGINNING = /(?<![\da-z])[2-69]\d\d/gi
const GROUP = /\d{3,}/y
const LETTER = /[a-z]/i

/** In a text where more numbers begin, every long number in the rest is masked without a closer look. */
const MAX_LOOKS = 10_000
const LONG_NUMBER = /\d(?:[ -]?\d){13,}/g

/** The possible beginning of a number at the end of a cut text. */
const CUT_NUMBER = /(?<![\da-z])[2-69](?:[ -]?\d){6,18}$/i

/** No IBAN is longer, with its spaces. */
const LONGEST_IBAN = 42
const IBAN_BEGINNING = /(?<![\da-z])[a-z]{2}\d{2}/gi
/** After this many in one text a number is masked even if it may be a part of an IBAN. */
const MAX_IBANS = 1_000

/** Card numbers of this length begin like this. */
const hasBeginning = (digits: string): boolean =>
  LENGTHS.some(([prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits))

export const isCardNumber = (digits: string): boolean => hasBeginning(digits) && passesLuhn(digits)

/** The end of the longest card number that begins here; undefined if none does. */
function endOfNumber(text: string, start: number): number | undefined {
  let [digits, at, end] = ['', start, undefined as number | undefined]
  while (digits.length < MAX_DIGITS) {
    GROUP.lastIndex = at
    const [group] = GROUP.exec(text) ?? []
    if (group === undefined || group.length > MAX_DIGITS) break
    digits += group
    at += group.length
    if (!LETTER.test(text[at] ?? '') && isCardNumber(digits)) end = at
    if (text[at] !== ' ' && text[at] !== '-') break
    at++
  }
  return end
}

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

function masked(number: string): string {
  let shown = number.length
  for (let digits = 0; digits < 4; ) if (isDigit(number[--shown])) digits++
  return number.slice(0, shown).replace(/\d/g, '*') + number.slice(shown)
}

const isDigit = (character = ''): boolean => character >= '0' && character <= '9'

/** In linear time; the same text if it has no card number. */
export function maskCardNumbers(text: string, { isCut = false } = {}): string {
  let [result, kept, looks, ibans] = ['', 0, 0, 0]
  BEGINNING.lastIndex = 0
  for (let found = BEGINNING.exec(text); found && looks < MAX_LOOKS; found = BEGINNING.exec(text)) {
    const { index: start } = found
    const end = endOfNumber(text, start)
    looks++
    BEGINNING.lastIndex = start + 1
    if (end === undefined || isWithinUuid(text, start)) continue
    if (text[start - 1] === ' ' && ibans++ < MAX_IBANS && isWithinIban(text, start)) continue
    result += text.slice(kept, start) + masked(text.slice(start, end))
    BEGINNING.lastIndex = kept = end
  }
  const rest = text.slice(kept)
  const all = result + (looks < MAX_LOOKS ? rest : rest.replace(LONG_NUMBER, masked))
  return isCut ? all.replace(CUT_NUMBER, digits => digits.replace(/\d/g, '*')) : all
}

export const containsCardNumber = (value: unknown): boolean =>
  JSON.stringify(maskCardNumbersIn(value)) !== JSON.stringify(value)

/** Any JSON value without card numbers, also in numbers and names of members. */
export function maskCardNumbersIn(value: unknown): unknown {
  if (typeof value === 'string') return maskCardNumbers(value)
  if (typeof value === 'number') return maskedNumber(value)
  if (Array.isArray(value)) return value.map(maskCardNumbersIn)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [maskCardNumbers(name), maskCardNumbersIn(member)]),
  )
}

/** A number that JSON cannot hold exactly has lost its check digit: its length and beginning decide. */
function maskedNumber(value: number): unknown {
  if (!Number.isInteger(value) || Math.abs(value) < 1e13) return value
  const digits = String(Math.abs(value))
  const isNumber = Number.isSafeInteger(value) ? isCardNumber(digits) : hasBeginning(digits)
  return isNumber ? masked(digits) : value
}

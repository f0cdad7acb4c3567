import { cardNumbersIn, isCardNumberInJson } from './card-number.ts'

/** The possible beginning of a number at the end of a cut text. */
const CUT_NUMBER = /(?<![\da-z])[2-69](?:[ -]?\d){6,18}$/i

function masked(number: string): string {
  let shown = number.length
  for (let digits = 0; digits < 4; ) if (isDigit(number[--shown])) digits++
  return number.slice(0, shown).replace(/\d/g, '*') + number.slice(shown)
}

const isDigit = (character = ''): boolean => character >= '0' && character <= '9'

/** In linear time; the same text if it has no card number. */
export function maskCardNumbers(text: string, { isCut = false } = {}): string {
  let [result, kept] = ['', 0]
  for (const { start, end } of cardNumbersIn(text)) {
    result += text.slice(kept, start) + masked(text.slice(start, end))
    kept = end
  }
  const all = result + text.slice(kept)
  return isCut ? all.replace(CUT_NUMBER, digits => digits.replace(/\d/g, '*')) : all
}

export const containsCardNumber = (value: unknown): boolean =>
  JSON.stringify(maskCardNumbersIn(value)) !== JSON.stringify(value)

/** Any JSON value without card numbers, also in numbers and names of members. */
export function maskCardNumbersIn(value: unknown): unknown {
  if (typeof value === 'string') return maskCardNumbers(value)
  if (typeof value === 'number') return isCardNumberInJson(value) ? masked(String(value)) : value
  if (Array.isArray(value)) return value.map(maskCardNumbersIn)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [maskCardNumbers(name), maskCardNumbersIn(member)]),
  )
}

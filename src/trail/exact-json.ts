import { jsonStringEnd } from '../values/canonical-json.ts'

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** The shortest text of an ECMAScript number has no more digits. */
const MOST_DIGITS = 17

/** A leaf is nested less deeply (`canonicalJson`). */
const MOST_LEVELS = 100

/**
 * Reads JSON so that no change of a digit goes unnoticed. PostgreSQL and text files hold more digits than
 * ECMAScript's numbers: a number that would lose some is read as text.
 */
export const parseExactly = (text: string): unknown => exactly(text, scan(text))

/** Reads JSON from outside, unambiguously: an object with two members of one name is refused. */
export function parseOneMeaning(text: string): unknown {
  const scanned = scan(text)
  if (scanned.levels > MOST_LEVELS) throw new SyntaxError(`JSON nested deeper than ${MOST_LEVELS} levels`)
  const value = exactly(text, scanned)
  if (membersIn(value) !== scanned.members) throw new SyntaxError('A member stands twice in an object.')
  return value
}

interface Scanned {
  /** The text with numbers that would lose digits as texts. */
  readonly exact: string
  readonly members: number
  readonly levels: number
}

/** The original text is parsed first: only valid JSON may be changed. */
function exactly(text: string, { exact }: Scanned): unknown {
  const value: unknown = JSON.parse(text)
  return exact === text ? value : JSON.parse(exact)
}

/** Looks at each character once, so that an invalid text costs no more than a valid one. */
function scan(text: string): Scanned {
  let [exact, kept, members, level, levels] = ['', 0, 0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '"') at = jsonStringEnd(text, at)
    else if (character === ':') members++
    else if (character === '{' || character === '[') levels = Math.max(levels, ++level)
    else if (character === '}' || character === ']') level--
    else if (character === '-' || (character >= '0' && character <= '9')) {
      const number = numberAt(text, at)
      if (!isExact(number)) {
        exact += `${text.slice(kept, at)}"${number}"`
        kept = at + number.length
      }
      at += Math.max(number.length, 1) - 1
    }
  }
  return { exact: exact + text.slice(kept), members, levels }
}

function numberAt(text: string, at: number): string {
  NUMBER.lastIndex = at
  return NUMBER.exec(text)?.[0] ?? ''
}

/** The shortest text of the number has the same digits as the one that was read. */
function isExact(source: string): boolean {
  // Shorter ones are exact.
  if (source.length < MOST_DIGITS - 1 && !/e/i.test(source)) return true
  const digits = digitsOf(source)
  return digits.length <= MOST_DIGITS && digitsOf(String(Number(source))) === digits
}

/** Digits without a sign, a point, an exponent, or zeros around them. */
function digitsOf(number: string): string {
  const [mantissa = ''] = number.split(/e/i, 1)
  const digits = mantissa.replace(/[-.]/g, '')
  let [start, end] = [0, digits.length]
  while (digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  return digits.slice(start, end)
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values: unknown[] = Object.values(value)
  return values.reduce<number>((sum, one) => sum + membersIn(one), Array.isArray(value) ? 0 : values.length)
}

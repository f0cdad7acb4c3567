/** Deeper nesting is refused, so that no value exhausts the stack. */
const MAX_LEVELS = 64

/**
 * RFC 8785: members sorted by their UTF-16 code units, no spaces, numbers and texts as ECMAScript writes
 * them. Throws for values that JSON cannot hold; callers only pass values of their own.
 */
export const canonicalJson = (value: unknown): string => write(value, 0)

function write(value: unknown, level: number): string {
  if (level > MAX_LEVELS) throw new RangeError(`JSON nested deeper than ${MAX_LEVELS} levels`)
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return writeNumber(value)
  if (typeof value === 'string') return writeText(value)
  if (Array.isArray(value)) return `[${value.map(item => write(item, level + 1)).join(',')}]`
  if (typeof value === 'object') return writeObject(value, level)
  throw new TypeError(`JSON cannot hold a ${typeof value}`)
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('JSON cannot hold a number that is not finite')
  return JSON.stringify(value)
}

/** ASCII without what JSON escapes: nearly every name, and most texts. */
const PLAIN = /^[ !#-[\]-~]*$/
const HALF_OF_A_PAIR = /\p{Surrogate}/u

/** Half of a surrogate pair: UTF-8 would put another character in its place. */
export const hasLoneSurrogate = (text: string): boolean => HALF_OF_A_PAIR.test(text)

/** A lone surrogate has no UTF-8 form, so RFC 8785 refuses it. */
function writeText(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  if (hasLoneSurrogate(value)) throw new TypeError('JSON cannot hold half of a surrogate pair')
  return JSON.stringify(value)
}

/** A member that is undefined is left out, as by JSON.stringify. */
function writeObject(value: object, level: number): string {
  const members = value as Readonly<Record<string, unknown>>
  let text = ''
  for (const name of Object.keys(members).sort()) {
    const member = members[name]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${writeText(name)}:${write(member, level + 1)}`
  }
  return `{${text}}`
}

/** The index of the quote that ends the JSON string beginning here; the text's length if there is none. */
export function jsonStringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

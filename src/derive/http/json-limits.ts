/** More than any contract needs, and few enough to parse quickly. */
export const MOST_VALUES = 10_000
export const DEEPEST = 32

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const isOpening = (byte: number | undefined): boolean => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number | undefined): boolean => byte === 0x5d || byte === 0x7d

/**
 * What is too much in a JSON text, told before it is parsed: a few bytes of text make an object of a hundred.
 * Everything after an opening bracket or a comma is counted as a value; whether it is JSON at all is for the parser.
 */
export function excessOf(bytes: Uint8Array): string | undefined {
  let [values, depth] = [1, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (isOpening(byte)) {
      values++
      if (++depth > DEEPEST) return `nested more than ${DEEPEST} levels deep`
    } else if (byte === COMMA) values++
    else if (isClosing(byte)) depth--
    if (values > MOST_VALUES) return `more than ${MOST_VALUES.toLocaleString('en')} values`
  }
  return undefined
}

/** The index of the quote that ends the string beginning here. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

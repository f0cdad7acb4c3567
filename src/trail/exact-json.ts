/** What no name, id or hash has: there are none of these characters before it. */
const LONG_NUMBER = /(?<![\w.])[\d.]{16}/

/** A text is taken whole, so that no digit within one passes for a number. */
const TEXT_OR_NUMBER = /"(?:[^"\\]+|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Reads JSON so that no digit of it can be changed unseen. Numbers are those of ECMAScript; PostgreSQL and text files hold
 * more digits, and a number that loses some is read as a text.
 */
export function parseExactly(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text)
  return JSON.parse(text.replace(TEXT_OR_NUMBER, token => (isKept(token) ? token : `"${token}"`)))
}

const isKept = (token: string): boolean => token.startsWith('"') || isExact(Number(token), token)

/** Whether the shortest text of a number has the same digits as the one that was read. */
const isExact = (value: number, source: string): boolean => digitsOf(String(value)) === digitsOf(source)

/** Digits without a point, an exponent, or zeros around them. */
const digitsOf = (text: string): string =>
  text
    .replace(/e.*$/i, '')
    .replace(/[.-]/g, '')
    .replace(/^0+|0+$/g, '')

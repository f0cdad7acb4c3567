/** All but printable Latin-1, the characters that HTTP carries in a field value. */
const OUTSIDE = /[^\u0020-\u007e\u00a0-\u00ff]/gu
const CONTROL = /\p{Cc}/u
/** What stands between quotes as it is: no quote, no backslash, no control character. */
const PLAIN = /^[ !#-[\]-~\u00a0-\u00ff]*$/

const alike: Readonly<Record<string, string>> = {
  '–': '-',
  '—': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '…': '...',
  '€': 'EUR',
}

/** A text as a header can carry it: what lies beyond Latin-1 is written with its nearest letters, or as `?`. */
export const headerText = (text: string): string =>
  text.normalize('NFC').replace(OUTSIDE, character => alike[character] ?? withoutMarks(character))

function withoutMarks(character: string): string {
  if (CONTROL.test(character)) return ' '
  const base = character.normalize('NFKD').replace(/\p{M}/gu, '')
  return /^[\u0020-\u007e]+$/.test(base) ? base : '?'
}

/**
 * A quoted string of RFC 9110. What lies beyond Latin-1 is escaped as mppx escapes it, so no value is lost. A control
 * character would end the header and begin another: a value with one is a defect of the caller.
 */
export function quoted(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  if (CONTROL.test(value)) throw new RangeError('a header cannot hold control characters')
  const escaped = value
    .replace(/["\\]/g, '\\$&')
    .replace(/[\u0100-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `"${escaped}"`
}

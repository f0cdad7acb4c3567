/**
 * What a terminal would obey instead of showing it: control characters, and marks that turn the direction of a line. A
 * name or a refusal may hold them, and nobody knows who wrote it.
 */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

const escaped = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\u{${code}}`
}

/** A text as one line, in which what a terminal would obey is written out. */
export const safeLine = (text: string): string =>
  text.replace(OBEYED, character => (character === '\n' ? ' ' : escaped(character)))

/** A text of several lines, likewise. */
export const safeText = (text: string): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(OBEYED, character => (/[\n\t]/.test(character) ? character : escaped(character)))

/** JSON in which no character is one that a terminal obeys: they are escaped as JSON allows, and mean the same. */
export const safeJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? 'null').replace(OBEYED, character =>
    character === '\n' ? character : surrogates(character),
  )

/** The same in one line: for pipes that read line by line. */
export const safeJsonLine = (value: unknown): string => JSON.stringify(value).replace(OBEYED, surrogates)

const surrogates = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

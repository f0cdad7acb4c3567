/**
 * Characters that a terminal interprets instead of showing: control characters, and marks that change the
 * text direction. Names and refusals may contain them, and their authors are unknown.
 */
export const UNSAFE_IN_TERMINAL =
  /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

export const escapeCharacter = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\u{${code}}`
}

export const escapeLine = (text: string): string =>
  text.replace(UNSAFE_IN_TERMINAL, character => (character === '\n' ? ' ' : escapeCharacter(character)))

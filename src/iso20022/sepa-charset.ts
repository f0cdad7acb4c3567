import { letters, signs } from './sepa-transliteration.ts'

/** The longest name of a party that the SEPA rulebooks allow; the messages' own schema would take 140. */
export const LONGEST_NAME = 70

/**
 * Spells a text in the characters that every SEPA bank must accept: a-z A-Z 0-9 / - ? : ( ) . , ' + and the space. A
 * character without a spelling becomes a full stop, as the EPC recommends.
 */
export const sepaText = (text: string, longest: number): string =>
  text
    .normalize('NFC')
    .replace(/[^A-Za-z0-9/?:().,'+ -]/gu, transliterate)
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, longest)
    .trimEnd()

/** Spells one character. The signature is that of a replacer: capitals depend on the character that follows. */
function transliterate(character: string, at: number, whole: string): string {
  const sign = signs.get(character)
  if (sign !== undefined) return sign
  const letter = letters.get(character.toLowerCase())
  if (letter !== undefined) return inCase(letter, character, whole.slice(at + character.length))
  if (/[\s\p{Z}]/u.test(character)) return ' '
  if (/[\p{M}\p{Cc}\p{Cf}]/u.test(character)) return ''
  const parts = character.normalize('NFKD').replace(/\p{M}/gu, '')
  if (parts === character) return '.'
  return parts.replace(/[^A-Za-z0-9/?:().,'+ -]/gu, (part, _at, _whole) => transliterate(part, at, whole))
}

/** Capitals follow the word: `Θάλεια` becomes `Thaleia`, `ΘΑΛΕΙΑ` becomes `THALEIA`. */
function inCase(letter: string, original: string, rest: string): string {
  if (original === original.toLowerCase()) return letter
  return /^\p{Ll}/u.test(rest) ? letter.slice(0, 1).toUpperCase() + letter.slice(1) : letter.toUpperCase()
}

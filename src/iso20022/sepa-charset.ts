/**
 * Spellings for letters and signs outside SEPA's characters, by the EPC's conversion table (EPC217-08,
 * Unicode subset, best practices), which follows ISO 843 for Greek and Bulgaria's law for Cyrillic. Unlike
 * the table, which turns `Ä` into `A`, Latin letters here become two, as in passports and at German banks.
 * Accented letters need no entry: the accent is dropped.
 */
const latin = 'ä ae  ö oe  ü ue  ß ss  æ ae  œ oe  þ th  ø o  ð d  đ d  ł l  ŀ l  ħ h  ŧ t  ŋ n  ĸ k  ı i'

const greek =
  'α a  β v  γ g  δ d  ε e  ζ z  η i  θ th  ι i  κ k  λ l  μ m  ν n  ξ x  ο o  π p  ρ r  σ s  ς s  τ t  υ y  φ f' +
  '  χ ch  ψ ps  ω o'

const bulgarian =
  'а a  б b  в v  г g  д d  е e  ж zh  з z  и i  й y  к k  л l  м m  н n  о o  п p  р r  с s  т t  у u  ф f  х h' +
  '  ц ts  ч ch  ш sh  щ sht  ъ a  ь y  ю yu  я ya'

/** Serbian, Macedonian and Ukrainian letters, of countries that join SEPA after the EPC's table. */
const otherCyrillic = 'ђ dj  ѓ gj  ѕ dz  ј j  љ lj  њ nj  ћ c  ќ kj  џ dz  ґ g  є ye  і i  ї yi  ы y  э e'

const keyboard = "& +  @ (at)  _ -  ; ,  € E  ¿ ?  ` '  [ (  { (  ] )  } )  \\ /  | /"

/** Quotation marks and dashes, which the EPC's table lacks, by their nearest sign. */
const wordProcessor = `" '  “ '  ” '  „ '  « '  » '  ‘ '  ’ '  ‛ '  ʼ '  ´ '  ‐ -  ‑ -  – -  — -`

const tableOf = (...texts: string[]): ReadonlyMap<string, string> =>
  new Map(texts.flatMap(text => text.split('  ').map(pair => pair.split(' ') as [string, string])))

const letters = tableOf(latin, greek, bulgarian, otherCyrillic)
const signs = tableOf(keyboard, wordProcessor)

/** The longest name of a party in the SEPA rulebooks; the messages' own schema would allow 140. */
export const MAX_SEPA_NAME_LENGTH = 70

/**
 * Spells a text in the characters that every SEPA bank must accept: a-z A-Z 0-9 / - ? : ( ) . , ' + and the
 * space. A character without a spelling becomes a full stop, as the EPC recommends.
 */
export const toSepaText = (text: string, longest: number): string =>
  text
    .normalize('NFC')
    .replace(/[^A-Za-z0-9/?:().,'+ -]/gu, transliterate)
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, longest)
    .trimEnd()

/** Has the signature of a replacer, since capitals depend on the character that follows. */
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

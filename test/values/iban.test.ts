import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { bicMatchesIban, bicSchema } from '../../src/values/bic.ts'
import { countries } from '../../src/values/countries.ts'
import {
  ibanCountryAliases,
  ibanProblem,
  ibanSchema,
  normalizeIban,
  sepaCountries,
} from '../../src/values/iban.ts'

/** The IBAN registry's example for each SEPA country. */
const valid = [
  'AD12 0001 2030 2003 5910 0100',
  'AL47 2121 1009 0000 0002 3569 8741',
  'AT61 1904 3002 3457 3201',
  'BE68 5390 0754 7034',
  'BG80 BNBG 9661 1020 3456 78',
  'CH93 0076 2011 6238 5295 7',
  'CY17 0020 0128 0000 0012 0052 7600',
  'CZ65 0800 0000 1920 0014 5399',
  'DE89 3704 0044 0532 0130 00',
  'DK50 0040 0440 1162 43',
  'EE38 2200 2210 2014 5685',
  'ES91 2100 0418 4502 0005 1332',
  'FI21 1234 5600 0007 85',
  'FR14 2004 1010 0505 0001 3M02 606',
  'GB29 NWBK 6016 1331 9268 19',
  'GI75 NWBK 0000 0000 7099 453',
  'GR16 0110 1250 0000 0001 2300 695',
  'HR12 1001 0051 8630 0016 0',
  'HU42 1177 3016 1111 1018 0000 0000',
  'IE29 AIBK 9311 5212 3456 78',
  'IS14 0159 2600 7654 5510 7303 39',
  'IT60 X054 2811 1010 0000 0123 456',
  'LI21 0881 0000 2324 013A A',
  'LT12 1000 0111 0100 1000',
  'LU28 0019 4006 4475 0000',
  'LV80 BANK 0000 4351 9500 1',
  'MC58 1122 2000 0101 2345 6789 030',
  'MD24 AG00 0225 1000 1310 4168',
  'ME25 5050 0001 2345 6789 51',
  'MK07 2501 2000 0058 984',
  'MT84 MALT 0110 0001 2345 MTLC AST0 01S',
  'NL91 ABNA 0417 1643 00',
  'NO93 8601 1117 947',
  'PL61 1090 1014 0000 0712 1981 2874',
  'PT50 0002 0123 1234 5678 9015 4',
  'RO49 AAAA 1B31 0075 9384 0000',
  'RS35 2600 0560 1001 6113 79',
  'SE45 5000 0000 0583 9825 7466',
  'SI56 2633 0001 2039 086',
  'SK31 1200 0000 1987 4263 7541',
  'SM86 U032 2509 8000 0000 0270 100',
  'VA59 0011 2300 0012 3456 78',
]

/** The remainder of ISO 7064, computed without the code under test. */
function remainder(text: string): bigint {
  const digits = (text.slice(4) + text.slice(0, 4)).replace(/[A-Z]/g, letter =>
    String(letter.charCodeAt(0) - 55),
  )
  return BigInt(digits) % 97n
}

const errorOf = (text: string): string | undefined => ibanSchema.safeParse(text).error?.issues[0]?.message

const letters = (stranger: string) => `An IBAN has only letters and digits, but this has "${stranger}".`
const length = (country: string, has: number, is: number) =>
  `An IBAN of ${country} has ${has} characters, but this has ${is}.`
const built = (country: string, how: string) =>
  `An IBAN of ${country} has, after its first four characters, ${how}.`
const outside = (country: string) => `${country} lies outside the SEPA area.`
const checkDigits = 'The check digits do not match: a character is wrong, or two are swapped.'
const beginning = 'An IBAN begins with the two letters of a country.'

const invalid: [string, string][] = [
  ['', beginning],
  ['D', beginning],
  ['1289370400440532013000', beginning],
  ['D989370400440532013000', beginning],
  ['DE89-3704-0044-0532-0130-00', letters('-')],
  ['DE89 3704 0044 0532 0130 0Ö', letters('Ö')],
  ['DE89 3704 0044 0532 0130 0🚀', letters('🚀')],
  ['DE89.3704', letters('.')],
  ['ΑΤ61 1904 3002 3457 3201', letters('Α')],
  ['ıE29AIBK93115212345678', letters('ı')],
  ['ßE', letters('ß')],
  ['DE', length('DE', 22, 2)],
  ['DE8937040044053201300', length('DE', 22, 21)],
  ['DE893704004405320130000', length('DE', 22, 23)],
  ['NO938601111794', length('NO', 15, 14)],
  ['MT84MALT011000012345MTLCAST001', length('MT', 31, 30)],
  ['FR1420041010050500013M0260', length('FR', 27, 26)],
  ['GB29NWBK6016133192681', length('GB', 22, 21)],
  ['BE685390075470340', length('BE', 16, 17)],
  [
    'DEX9370400440532013000',
    'The third and fourth characters of an IBAN are digits, but here they are "X9".',
  ],
  ['NLABABNA0417164300', 'The third and fourth characters of an IBAN are digits, but here they are "AB".'],
  ['DE8937040044053201300A', built('DE', '18 digits')],
  ['GB29NWB16016133192681A', built('GB', '4 letters, 14 digits')],
  ['FR1420041010050500013M026AB', built('FR', '10 digits, 11 letters or digits, 2 digits')],
  ['IT6010542811101000000123456', built('IT', '1 letter, 10 digits, 12 letters or digits')],
  ['NL91ABN10417164300', built('NL', '4 letters, 10 digits')],
  ['BG8012349661102034567A', built('BG', '4 letters, 6 digits, 8 letters or digits')],
  ['DE88370400440532013000', checkDigits],
  ['DE89370400440532013001', checkDigits],
  ['DE89370400440523013000', checkDigits],
  ['NL92ABNA0417164300', checkDigits],
  ['GB29NWBK60161331926918', checkDigits],
  ['AL47212110090000000235698742', checkDigits],
  ['RS35260005601001611378', checkDigits],
  // 00 and 97, 01 and 98, 02 and 99 leave the same remainder: only 02 to 98 are valid.
  ['AT00190430023457320100', length('AT', 20, 22)],
  ['TR330006100519786457841326', outside('TR')],
  ['UA213223130000026007233566001', outside('UA')],
  ['XK051212012345678906', outside('XK')],
  ['IL620108000000099999999', outside('IL')],
  ['SA0380000000608010167519', outside('SA')],
  ['AE070331234567890123456', outside('AE')],
  ['BR1800360305000010009795493C1', outside('BR')],
  ['BA391290079401028494', outside('BA')],
  ['US64SVBKUS6S3300958879', 'US has no IBANs.'],
  ['CA12345678901234', 'CA has no IBANs.'],
  ['ZZ89370400440532013000', 'There is no country ZZ.'],
  ['EU89370400440532013000', 'There is no country EU.'],
  ['GF1420041010050500013M02606', 'Accounts in GF have an IBAN that begins with FR.'],
  ['JE29NWBK60161331926819', 'Accounts in JE have an IBAN that begins with GB.'],
  ['AX2112345600000785', 'Accounts in AX have an IBAN that begins with FI.'],
]

describe('an IBAN', () => {
  test.each(valid)('%s is valid', text => {
    expect(remainder(normalizeIban(text))).toBe(1n)
    expect(errorOf(text)).toBeUndefined()
    expect(ibanSchema.parse(` ${text.toLowerCase()}\u00a0`)).toBe(normalizeIban(text))
  })

  test.each(invalid)('"%s" is refused: %s', (text, why) => {
    expect(errorOf(text)).toBe(why)
  })

  test('is valid for every SEPA country and no other', () => {
    expect(valid.map(text => text.slice(0, 2)).toSorted()).toEqual([...sepaCountries].toSorted())
    const others = [...countries].filter(country => !sepaCountries.has(country))
    expect(others.filter(country => ibanProblem(`${country}89370400440532013000`) === undefined)).toEqual([])
    for (const home of Object.values(ibanCountryAliases)) expect(sepaCountries).toContain(home)
  })

  const validIban = fc.constantFrom(...valid.map(normalizeIban))
  const isDigit = (character: string): boolean => /\d/.test(character)

  test('is invalid with any one character changed', () => {
    const other = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ')
    const property = fc.property(validIban, fc.nat(), other, (text, at, by) => {
      const place = at % text.length
      const was = text.charAt(place)
      fc.pre(was !== by && isDigit(was) === isDigit(by))
      expect(errorOf(text.slice(0, place) + by + text.slice(place + 1))).toMatch(/\.$/)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  test('is invalid with two digits swapped', () => {
    const property = fc.property(validIban, fc.nat(), (text, at) => {
      const place = at % (text.length - 1)
      const [a = '', b = ''] = text.slice(place)
      fc.pre(a !== b && isDigit(a) && isDigit(b))
      expect(errorOf(text.slice(0, place) + b + a + text.slice(place + 2))).toMatch(/\.$/)
    })
    fc.assert(property, { numRuns: 1_000 })
  })

  test('is invalid with check digits outside 02 to 98', () => {
    const bban = '37040044053201'
    const all = Array.from({ length: 10_000 }, (_, number) => `${bban}${String(number).padStart(4, '0')}`)
    const round = ['00', '01', '99'].flatMap(digits =>
      all.map(account => `DE${digits}${account}`).filter(text => remainder(text) === 1n),
    )
    expect(round.length).toBeGreaterThan(100)
    expect(new Set(round.map(ibanProblem))).toEqual(new Set([checkDigits]))
  })

  test('gives a sentence as error for any other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), text => {
        const problem = errorOf(text)
        if (problem !== undefined) expect(problem).toMatch(/\.$/)
      }),
    )
  })
})

describe('a BIC', () => {
  test.each(['COBADEFF', 'COBADEFFXXX', ' cobadeffxxx ', 'REVOLT21', 'N26ADEB1', 'IOPRVAVX', 'NCBVXKPR'])(
    '%s is valid',
    text => {
      expect(bicSchema.parse(text)).toBe(text.trim().toUpperCase())
    },
  )

  test.each([
    ['', 'A BIC has 8 or 11 characters, but this has 0.'],
    ['COBADEF', 'A BIC has 8 or 11 characters, but this has 7.'],
    ['COBADEFFX', 'A BIC has 8 or 11 characters, but this has 9.'],
    ['COBADEFFXXXX', 'A BIC has 8 or 11 characters, but this has 12.'],
    ['COBA-DEFF', 'A BIC has only letters and digits, but this has "-".'],
    ['COBA DEFF', 'A BIC has only letters and digits, but this has " ".'],
    ['COBAD1FF', 'The fifth and sixth characters of a BIC are a country, but "D1" is none.'],
    ['COBAZZFF', 'The fifth and sixth characters of a BIC are a country, but "ZZ" is none.'],
  ])('"%s" is refused: %s', (text, why) => {
    expect(bicSchema.safeParse(text).error?.issues[0]?.message).toBe(why)
  })

  test.each([
    ['COBADEFF', 'DE', true],
    ['BNPAFRPP', 'DE', false],
    ['CMCIFRPP', 'MC', true],
    ['CFMOMCMX', 'MC', true],
    ['CFMOMCMX', 'FR', false],
    ['BREDGPGX', 'FR', true],
    ['BNPAFRPP', 'GP', false],
    ['RBOSGGSX', 'GB', true],
    ['AABAFI22', 'FI', true],
    ['AABAAXHH', 'FI', true],
    ['IOPRVAVX', 'IT', false],
  ])('%s fits an IBAN of %s: %s', (text, country, fits) => {
    expect(bicMatchesIban(text, `${country}00`)).toBe(fits)
  })
})

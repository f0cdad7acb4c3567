import { countries } from '../../values/countries.ts'
import { alpha2OfAlpha3, countryOfCity } from './cities.ts'
import { provenKnownName } from './descriptors.ts'
import { findKnownMerchant } from './known-merchants.ts'
import { hostInText, parseDescriptor } from './names.ts'
import { descriptorWords, legalForms, stripProcessorPrefixes, usStates } from './noise.ts'

/** The card acceptor of ISO 8583, where data element 43 has its name, its city and its country. */
export interface CardAcceptor {
  readonly descriptor: string
  readonly city: string | null
  readonly country: string | null
}

interface AcceptorNames {
  /** Names of which the descriptor has every letter, and beyond these only what the rules admit. */
  readonly names: readonly string[]
  /** The beginning of a name that filled its field, in lower case; null if the name ended before the field. */
  readonly truncated: string | null
}

const MAX_LENGTH = 200
/** Mastercard's name field, Visa's, and all of data element 43. */
const FIELD_LENGTHS: readonly number[] = [22, 25, 40]
/** A shorter beginning is that of too many names. */
const MIN_TRUNCATED = 12

/** More details than any network has room for. */
const MAX_DETAILS = 8

type Location = Pick<CardAcceptor, 'city' | 'country'>

const digitsOf = (text: string): string => text.replace(/\D/g, '')
const letterCount = (text: string): number => text.replace(/\P{L}/gu, '').length
const joined = (text: string): string => descriptorWords(text).join(' ')

/** Splits a data element 43 in one text: Mastercard's 22 + 13 + 3 with spaces between, or Visa's 25 + 13 + 2. */
function splitFields(acceptor: CardAcceptor): CardAcceptor {
  const { descriptor } = acceptor
  // Some field is padded, unlike in a text of forty characters by chance.
  if (descriptor.length !== 40 || !descriptor.includes('  ')) return acceptor
  const ofMastercard = alpha2OfAlpha3.get(descriptor.slice(37))
  const isMastercard = ofMastercard && descriptor[22] === ' ' && descriptor[36] === ' '
  const ofVisa = descriptor.slice(38)
  const isVisa = countries.has(ofVisa) && (descriptor[24] === ' ' || descriptor[37] === ' ')
  if (!isMastercard && !isVisa) return acceptor
  const [nameEnd, cityStart, cityEnd] = isMastercard ? [22, 23, 36] : [25, 25, 38]
  return {
    descriptor: descriptor.slice(0, nameEnd),
    city: acceptor.city ?? descriptor.slice(cityStart, cityEnd).trim(),
    country: acceptor.country ?? (isMastercard ? ofMastercard : ofVisa),
  }
}

/** Merchants without a shop put a phone number or a web address into the field of the city. */
const cityIn = (city: string | null): string | null =>
  city !== null && /\p{L}/u.test(city) && !/[\d.@]/.test(city) ? city : null

/** `München` is also written `MUENCHEN` and `MUNCHEN`. */
const spellingsOf = (city: string): string[] => [joined(city), joined(city.normalize('NFKD'))]

function isCity(place: string, { city, country }: Location): boolean {
  if (city !== null) return spellingsOf(city).some(spelling => spellingsOf(place).includes(spelling))
  const listed = countryOfCity.get(joined(place))
  return listed !== undefined && (country === null || country === listed)
}

type CountAtEnd = (words: readonly string[], location: Location) => number

const cityAtEnd: CountAtEnd = (words, location) =>
  [4, 3, 2, 1].find(count => words.length > count && isCity(words.slice(-count).join(' '), location)) ?? 0

const storeMarks = new Set(['FIL', 'FILIALE', 'NR', 'NO', 'SUCURSAL'])
const markOf = (word = ''): string => word.replace(/[\d.:#]/g, '').toUpperCase()
const isNumeric = (word: string): boolean => /^[#(+]?\d[\d()./:-]*$/.test(word)

/** Two digits or fewer are often a part of the name: `STUDIO 54`. */
const numberAtEnd: CountAtEnd = words => {
  const last = words.at(-1) ?? ''
  const other = words.toReversed().findIndex(word => !isNumeric(word))
  const phoneWords = other === -1 ? words.length : other
  const phoneDigits = digitsOf(words.slice(-phoneWords).join('')).length
  if (phoneWords > 1 && phoneDigits >= 7 && phoneDigits <= 15) return phoneWords
  const hasMark = storeMarks.has(markOf(words.at(-2))) && !/\d/.test(words.at(-2) ?? '')
  if (isNumeric(last) && hasMark) return 2
  if (/\d$/.test(last) && storeMarks.has(markOf(last))) return 1
  const isCode = last.startsWith('#') && /^#\w{1,10}$/.test(last) && /\d/.test(last)
  return isCode || (isNumeric(last) && digitsOf(last).length >= 3) ? 1 : 0
}

/** A web or e-mail address of the merchant: one label of its host is how the name begins. */
const contactAtEnd: CountAtEnd = words => {
  const labels = hostInText(words.at(-1)?.split('@').at(-1) ?? '')
    ?.toUpperCase()
    .split('.')
    .slice(0, -1)
  if (!labels) return 0
  const name = descriptorWords(words.slice(0, -1).join(' '))
  const beginnings = name.map((_, index) => name.slice(0, index + 1).join('')).filter(text => text.length > 2)
  const known = findKnownMerchant(name)?.merchant.name
  const isOwn = (label: string): boolean =>
    beginnings.includes(label) || (known !== undefined && findKnownMerchant([label])?.merchant.name === known)
  return labels.some(isOwn) ? 1 : 0
}

const legalFormAtEnd: CountAtEnd = words =>
  legalForms.has(descriptorWords(words.at(-1) ?? '').join('')) ? 1 : 0

const detailAtEnd: CountAtEnd = (words, location) =>
  cityAtEnd(words, location) ||
  numberAtEnd(words, location) ||
  contactAtEnd(words, location) ||
  Number(withoutReference(words.join(' ')) !== undefined)

/** Many codes of two letters are words, so where the country is unknown, they count only after another detail. */
const countryAtEnd: CountAtEnd = (words, location) => {
  const code = (words.at(-1) ?? '').toUpperCase()
  const alpha2 = code === 'UK' ? 'GB' : (alpha2OfAlpha3.get(code) ?? code)
  const { country } = location
  const isState = usStates.has(code) && (country === null || country === 'US')
  const followsDetail = (): boolean => detailAtEnd(words.slice(0, -1), location) > 0
  if (country !== null) return alpha2 === country || (isState && followsDetail()) ? 1 : 0
  if (alpha2OfAlpha3.has(code)) return 1
  return (isState || countries.has(alpha2)) && followsDetail() ? 1 : 0
}

const countsAtEnd: readonly CountAtEnd[] = [
  cityAtEnd,
  numberAtEnd,
  contactAtEnd,
  legalFormAtEnd,
  countryAtEnd,
]

const orderWords = new Set(['ORDER', 'INVOICE', 'INV', 'REF', 'NO', 'NR'])

/** A code has digits and no word: `2K4LJ6ZX5` and `INV-2041`, not `CASINO24`. */
const isCode = (text: string): boolean =>
  text.length <= 20 && digitsOf(text).length >= 2 && /^[a-z\d-]+$/i.test(text) && !/[a-z]{5}/i.test(text)

/** Removes an order number after an asterisk: `BOOKSHOP* INV-2041`. Any other text there may be another merchant. */
function withoutReference(text: string): string | undefined {
  const asterisk = text.lastIndexOf('*')
  const words = text
    .slice(asterisk + 1)
    .split(' ')
    .filter(Boolean)
  const codes = words.filter((word, index) => index === words.length - 1 || !orderWords.has(markOf(word)))
  const isNumber = words.length > 0 && words.every(word => /^[\d./-]+$/.test(word) && /\d/.test(word))
  const isReference = isNumber || (codes.length === 1 && isCode((codes[0] ?? '').replace(/^#/, '')))
  return asterisk > 0 && isReference ? text.slice(0, asterisk).trimEnd() : undefined
}

/** The label of a host that is the whole text, below `.com` or the domain of the merchant's country. */
function nameOfHost(text: string, country: string | null): string | undefined {
  const [label, ...domain] =
    hostInText(text)
      ?.replace(/^www\./, '')
      .split('.') ?? []
  const ofCountry = country === 'GB' ? 'uk' : country?.toLowerCase()
  const domains = ofCountry ? ['com', ofCountry, `co.${ofCountry}`, `com.${ofCountry}`] : ['com']
  return domains.includes(domain.join('.')) ? label : undefined
}

const withoutSeparators = (words: readonly string[]): string[] => {
  const last = words.findLastIndex(word => /[\p{L}\p{N}]/u.test(word))
  return words.slice(0, last + 1).map((word, index) => (index === last ? word.replace(/[,;:/-]$/, '') : word))
}

function withoutDetail(text: string, location: Location): string | undefined {
  const withoutOrder = withoutReference(text)
  if (withoutOrder !== undefined) return withoutOrder
  const words = text.split(' ')
  if (words.length < 2) return undefined
  const counted = countsAtEnd.find(count => count(words, location) > 0)
  return counted && withoutSeparators(words.slice(0, -counted(words, location))).join(' ')
}

/** The name and, step by step, what is left of it when the details at its end are removed. */
function stepsOf(name: string, location: Location): string[] {
  const steps: string[] = []
  let text: string | undefined = name
  while (text !== undefined && letterCount(text) >= 2 && steps.length <= MAX_DETAILS) {
    steps.push(text)
    text = withoutDetail(text, location)
  }
  return steps
}

function truncatedName(text: string, fieldLength: number): string | null {
  const isFull = FIELD_LENGTHS.includes(fieldLength) && text.length >= MIN_TRUNCATED
  return isFull && /^[ -)+-~]+$/.test(text) ? text.toLowerCase() : null
}

/**
 * The names under which a card acceptor may be paid. Its descriptor may have a processor in front of the name,
 * and behind it a city, a store or phone number, an address, a legal form, a country, and an order number. A
 * field of its own for the city decides which word is a city; without one, a list of cities does, and only
 * for cities of the merchant's country.
 */
export function acceptorNames(acceptor: CardAcceptor): AcceptorNames {
  const { descriptor } = acceptor
  if (descriptor.length > MAX_LENGTH) return { names: [descriptor], truncated: null }
  const fields = splitFields(acceptor)
  const location = { city: cityIn(fields.city), country: fields.country }
  const field = fields.descriptor.trimEnd()
  const name = stripProcessorPrefixes(field.replace(/\s+/g, ' ')).text
  const derived = stepsOf(name, location).flatMap(step => [
    step,
    nameOfHost(step, location.country) ?? step,
    provenKnownName(step) ?? step,
  ])
  const names = [...new Set([descriptor, field, parseDescriptor(field).name, ...derived])]
  return { names, truncated: truncatedName(name, field.length) }
}

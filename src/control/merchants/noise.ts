import { countries } from '../../values/countries.ts'
import { countryOfCity } from './cities.ts'
import { guessMcc } from './mcc-keywords.ts'

const processors: readonly (readonly [prefix: RegExp, name: string])[] = [
  [/^(?:SQ|GOSQ\.COM|SQUARE) ?\*/i, 'Square'],
  [/^(?:TST|TOAST)\* ?/i, 'Toast'],
  [/^(?:PAYPAL|PP) ?\*/i, 'PayPal'],
  [/^(?:SUMUP|SMP|SUM UP) ?\*/i, 'SumUp'],
  [/^(?:IZ|IZETTLE|ZETTLE)_? ?\*/i, 'Zettle'],
  [/^(?:SP|SHOPIFY) ?\*/i, 'Shopify'],
  [/^(?:STRIPE|ST) ?\*/i, 'Stripe'],
  [/^KLARNA ?\*/i, 'Klarna'],
  [/^MOLLIE ?\*/i, 'Mollie'],
  [/^ADYEN ?\*/i, 'Adyen'],
  [/^(?:PADDLE\.NET|PADDLE) ?\*/i, 'Paddle'],
  [/^(?:FS|FASTSPRING|FSPRG\.COM) ?\*/i, 'FastSpring'],
  [/^(?:2CO\.COM|2CHECKOUT) ?\*/i, '2Checkout'],
  [/^(?:DRI|DR) ?\*/i, 'Digital River'],
  [/^BLS ?\*/i, 'BlueSnap'],
  [/^(?:LEMSQZY|LS|LEMONSQUEEZY) ?\*/i, 'Lemon Squeezy'],
  [/^(?:CKO|CHECKOUT) ?\*/i, 'Checkout.com'],
  [/^WL ?\*/i, 'Worldline'],
  [/^CCV ?\*/i, 'CCV'],
  [/^(?:BT|BRAINTREE) ?\*/i, 'Braintree'],
  [/^(?:WPY|WEPAY) ?\*/i, 'WePay'],
  [/^PAYU ?\*/i, 'PayU'],
  [/^VIVA ?\*/i, 'Viva'],
  [/^(?:NYA|NAYAX) ?\*/i, 'Nayax'],
  [/^GPAY ?\*/i, 'Google Pay'],
  [/^APPLE PAY ?\*/i, 'Apple Pay'],
  [/^REVOLUT ?\*/i, 'Revolut'],
  [/^CLOVER ?\*/i, 'Clover'],
  [/^GUMROAD(?:\.COM)? ?\*/i, 'Gumroad'],
]

interface StrippedDescriptor {
  readonly text: string
  /** From left to right, so the last one is next to the merchant. */
  readonly processors: readonly string[]
}

export function stripProcessorPrefixes(text: string): StrippedDescriptor {
  const trimmed = text.trim().replace(/\s+\*/g, ' *')
  const processor = processors.find(([prefix]) => prefix.test(trimmed))
  if (!processor) return { text: trimmed, processors: [] }
  const [prefix, name] = processor
  const inner = stripProcessorPrefixes(trimmed.replace(prefix, ''))
  return { text: inner.text, processors: [name, ...inner.processors] }
}

const split = (list: string): ReadonlySet<string> => new Set(list.trim().split(/,\s*/))

const places: ReadonlySet<string> = new Set([...countryOfCity.keys(), 'EUROPE', 'EMEA', 'INTERNATIONAL'])

const countryCodes = split(
  'AUT, BEL, CAN, CHE, CZE, DEU, DNK, ESP, FIN, FRA, GBR, GRC, IRL, ITA, LUX, LVA, LTU, NLD, NOR, POL, PRT, SWE, USA, UK, EU',
)

/** States of the US. They count only after a place, since some of them are words. */
export const usStates = split(
  'AK, AL, AR, AZ, CA, CO, CT, DC, FL, GA, HI, IA, ID, IL, IN, KS, KY, LA, MA, MD, ME, MI, MN, MO, MS, MT, NC, ND, NE, ' +
    'NH, NJ, NM, NV, NY, OH, OK, OR, PA, RI, SC, SD, TN, TX, UT, VA, VT, WA, WI, WV, WY',
)

export const legalForms = split(
  'GMBH, MBH, UG, AG, KG, OHG, EK, EV, EG, SE, LTD, LIMITED, PLC, LLC, INC, CORP, CO, SA, SAS, SARL, SRL, SPA, BV, ' +
    'NV, AB, AS, APS, OY, DAC, SL, PTY, PBC, SP',
)

const trailingWords = split(
  'COM, NET, ORG, WWW, HTTPS, HELP, BILL, BILLING, FIL, FILIALE, NR, NO, STORE, PENDING, SAGT, DANKE, REF, RECURRING, ' +
    'CC, CONTACTLESS, SUCURSAL, INVOICE, ORDER',
)

/** Words for what a known merchant sells, or that occur in its name. */
const productWords = split(
  'IO, APP, INFO, ONLINE, PAYMENT, PAYMENTS, PURCHASE, SUBSCR, SUBSCRIPTION, SUBSCRIPT, STATION, MONTHLY, ANNUAL, PLUS, ' +
    'PRO, TEAM, USAGE, LABS, TECHNOLOGIES, SYSTEMS, SUPPORT, ON, SERVICE, SERVICES, HOTEL, MARKT, API, CLOUD, AI',
)

const paymentKinds =
  /^(?:(?:POS|VISA|MASTERCARD|MAESTRO|DEBIT|CARD|PURCHASE|KARTENZAHLUNG|PAIEMENT|CB|COMPRA|PAGO|GIROCARD|KAUFUMSATZ|CONTACTLESS|PAYMENT TO|RECURRING)\b[ :.-]*)+(?=\S)/i

const numbers = [
  /\b\d{1,2}[./-]\d{1,2}(?:[./-]\d{2,4})?\b/g,
  /\b\d{4}-\d{2}-\d{2}\b/g,
  /\b\d{2}:\d{2}(?::\d{2})?\b/g,
  /(?:\+|\b)\d(?:[ ()/.-]{0,2}\d){6,}/g,
  /#\s*\S*\d\S*/g,
]

export const withoutReferenceNumbers = (text: string): string =>
  numbers.reduce((rest, number) => rest.replace(number, ' '), text.replace(paymentKinds, ''))

export const descriptorWords = (text: string): string[] =>
  text
    .toUpperCase()
    .replace(/Ä/g, 'AE')
    .replace(/Ö/g, 'OE')
    .replace(/Ü/g, 'UE')
    .normalize('NFKD')
    .replace(/[\p{Mn}'’`]/gu, '')
    .split(/[^\p{L}\p{N}&+]+/u)
    .filter(Boolean)

export const isCountry = (word: string): boolean => countries.has(word) || countryCodes.has(word)

export function withoutLegalForm(name: string): string {
  const space = name.trimEnd().lastIndexOf(' ')
  return space > 0 && legalForms.has(descriptorWords(name.slice(space)).join(''))
    ? name.slice(0, space)
    : name
}

export const isNoise = (word: string): boolean =>
  /\d/.test(word) || isCountry(word) || legalForms.has(word) || trailingWords.has(word) || places.has(word)

export const isKnownMerchantNoise = (word: string): boolean => isNoise(word) || productWords.has(word)

/** Category codes of shops that sell goods; those of restaurants, bars and cafés are 581x. */
const SHOP = /^5(?!81)/

/** A trade and a place can be the whole name, as in Pizzeria Napoli; a shop's place is where it stands. */
function isNamedAfterPlaces(trade: string): boolean {
  const mcc = guessMcc([trade])
  return mcc !== null && !SHOP.test(mcc)
}

/** Counts words of noise at the end of a name: a number, a place of up to three words, a country, a legal form. */
export function countTrailingNoiseWords(words: readonly string[]): number {
  const [beforeLast = '', last = ''] = words.slice(-2)
  const placeWords = [3, 2].find(count => words.length > count && places.has(words.slice(-count).join(' ')))
  if (placeWords) return placeWords
  if (words.length > 2 && /^\d{4,5}$/.test(beforeLast)) return 2
  if (usStates.has(last) && places.has(beforeLast)) return 1
  if (words.length === 2 && places.has(last) && isNamedAfterPlaces(beforeLast)) return 0
  return isNoise(last) ? 1 : 0
}

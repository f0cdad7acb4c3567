export interface ReceiptFacts {
  readonly total: string | null
  readonly currency: string | null
  readonly date: string | null
  readonly merchant: string | null
  readonly vatNumber: string | null
}

/** Each part is bounded, so that a long line of digits is not scanned again from each of its digits. */
const AMOUNT = /(?<![\d.,])(\d{1,3}(?:[.,' \u00a0]\d{3}){1,3}|\d{1,7})[.,](\d{2})(?![\d.,]{0,12}\d)/g

const CURRENCIES: readonly (readonly [RegExp, string])[] = [
  [/€|\bEUR\b/, 'EUR'],
  [/\bUSD\b|\$/, 'USD'],
  [/\bGBP\b|£/, 'GBP'],
  [/\bCHF\b/, 'CHF'],
]

const TOTALS: readonly RegExp[] = [
  /grand total|total (paid|due)|amount (paid|due)|gesamtbetrag|rechnungsbetrag|endbetrag|zu zahlen|zahlbetrag|total ttc|net à payer|importe total|totale? complessivo|te betalen/i,
  /\btotal\b|\bgesamt|\bsumme\b|\btotale\b|\btotaal\b|\bsuma\b/i,
  /\bbetrag\b|\bamount\b|\bpaid\b|\bbezahlt\b/i,
]
const NO_TOTAL =
  /sub-?\s?total|zwischensumme|netto|net total|total (tax|vat|ht)\b|mwst|\bvat\b|\biva\b|\btva\b|discount|rabatt/i

const VAT =
  /\b(ATU\d{8}|BE[01]\d{9}|BG\d{9,10}|CY\d{8}[A-Z]|CZ\d{8,10}|DE\d{9}|DK\d{8}|EE\d{9}|EL\d{9}|ES[A-Z0-9]\d{7}[A-Z0-9]|FI\d{8}|FR[A-Z0-9]{2}\d{9}|HR\d{11}|HU\d{8}|IE\d[A-Z0-9+*]\d{5}[A-Z]{1,2}|IT\d{11}|LT(?:\d{9}|\d{12})|LU\d{8}|LV\d{11}|MT\d{8}|NL\d{9}B\d{2}|PL\d{10}|PT\d{9}|RO\d{2,10}|SE\d{12}|SI\d{8}|SK\d{10})\b/

const MONTHS = [
  ['jan'],
  ['feb', 'fév'],
  ['mar', 'mär'],
  ['apr', 'avr'],
  ['may', 'mai'],
  ['jun', 'juin'],
  ['jul', 'juil'],
  ['aug', 'aoû'],
  ['sep'],
  ['oct', 'okt'],
  ['nov'],
  ['dec', 'dez', 'déc'],
]

export function extractReceiptFacts(text: string): ReceiptFacts {
  const lines = text.split('\n').map(line => line.trim())
  const { total, currency } = totalIn(lines)
  return {
    total,
    currency: currency ?? currencyIn(text),
    date: dateIn(text),
    merchant: lines.find(line => /\p{L}{3}/u.test(line))?.slice(0, 100) ?? null,
    vatNumber: VAT.exec(text.replace(/(?<=\b[A-Z]{2}) (?=\w)/g, ''))?.[0] ?? null,
  }
}

const currencyIn = (text: string): string | null => CURRENCIES.find(([sign]) => sign.test(text))?.[1] ?? null

/** Finds the largest amount after the most reliable label. The amount may be in the next line. */
function totalIn(lines: readonly string[]): Pick<ReceiptFacts, 'total' | 'currency'> {
  for (const words of TOTALS) {
    const found = lines.flatMap((line, at) => {
      if (!words.test(line) || NO_TOTAL.test(line)) return []
      const inLine = amountsIn(line)
      const place = inLine.length > 0 ? line : (lines[at + 1] ?? '')
      // Once for all: a line may have as many amounts as the text has room for.
      const currency = currencyIn(`${line} ${place}`)
      return amountsIn(place).map(amount => ({ amount, currency }))
    })
    const [largest] = found.toSorted((a, b) => b.amount - a.amount)
    if (largest) return { total: largest.amount.toFixed(2), currency: largest.currency }
  }
  return { total: null, currency: null }
}

const amountsIn = (line: string): number[] =>
  [...line.matchAll(AMOUNT)].map(([, whole = '', cents]) => Number(`${whole.replace(/\D/g, '')}.${cents}`))

const NUMERIC = /\b(\d{4})-(\d{2})-(\d{2})\b|\b(\d{1,2})[./](\d{1,2})[./](\d{4})\b/
const WRITTEN_DATE =
  /\b(\d{1,2})\.?\s+(\p{L}{3,9})\.?,?\s+(\d{4})\b|\b(\p{L}{3,9})\.?\s+(\d{1,2}),?\s+(\d{4})\b/u

function dateIn(text: string): string | null {
  const numeric = NUMERIC.exec(text)
  if (numeric) {
    const [, year, month, day, otherDay, otherMonth, otherYear] = numeric
    return dated(year ?? otherYear, Number(month ?? otherMonth), Number(day ?? otherDay))
  }
  const words = WRITTEN_DATE.exec(text)
  if (!words) return null
  const [, day, month, year, otherMonth, otherDay, otherYear] = words
  return dated(year ?? otherYear, monthOf(month ?? otherMonth ?? ''), Number(day ?? otherDay))
}

const monthOf = (name: string): number =>
  MONTHS.findIndex(names => names.some(begin => name.toLowerCase().startsWith(begin))) + 1

function dated(year: string | undefined, month: number, day: number): string | null {
  const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
  const at = new Date(`${text}T00:00:00Z`)
  return Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text) ? null : text
}

import { type Cents, formatDecimal } from '../values/money.ts'

export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** More preferences than any browser sends. */
const MOST_PREFERENCES = 32

/** The language that `Accept-Language` prefers (RFC 9110); English if it prefers none. */
export function negotiateLanguage(accepted = ''): Language {
  const preferences = accepted.toLowerCase().split(',', MOST_PREFERENCES).map(preferenceOf)
  const weightOf = (language: Language): number => {
    const named = preferences.find(({ range }) => range.split('-')[0] === language)
    return (named ?? preferences.find(({ range }) => range === '*'))?.weight ?? 0
  }
  return weightOf('de') > weightOf('en') ? 'de' : 'en'
}

function preferenceOf(part: string): { range: string; weight: number } {
  const [range = '', ...parameters] = part.split(';').map(piece => piece.trim())
  const given = parameters.find(parameter => parameter.startsWith('q='))
  return { range, weight: given === undefined ? 1 : Number(given.slice(2)) || 0 }
}

const locales = { en: 'en-GB', de: 'de-DE' } as const

/** Formats `€ 12.50` or `12,50 €`, exact for every amount, without a line break inside. */
export const formatAmountIn = (language: Language, amount: Cents): string =>
  new Intl.NumberFormat(locales[language], { style: 'currency', currency: 'EUR' })
    .format(formatDecimal(amount) as Intl.StringNumericLiteral)
    .replace(/€(?=\d)/, '€\u00a0')

/** Shows the minute in the time zone of Frankfurt, in which euro banks work. */
export const formatMinuteIn = (language: Language, at: Date): string =>
  new Intl.DateTimeFormat(locales[language], {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'Europe/Berlin',
    timeZoneName: 'short',
  }).format(at)

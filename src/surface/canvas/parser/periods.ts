import { addMs, days } from '../../../values/clock.ts'
import type { ParsedPeriod } from './parsed-intent.ts'

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

const day = (now: Date): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
const month = (year: number, index: number): Date => new Date(Date.UTC(year, index, 1))
const monday = (now: Date): Date => addMs(day(now), -days((now.getUTCDay() + 6) % 7))

const span = (from: Date, to: Date, label: string): ParsedPeriod => ({ from, to, label })

const named: readonly (readonly [RegExp, (now: Date) => ParsedPeriod])[] = [
  [/\btoday\b/, now => span(day(now), addMs(day(now), days(1)), 'today')],
  [/\byesterday\b/, now => span(addMs(day(now), -days(1)), day(now), 'yesterday')],
  [/\b(?:in )?this week\b/, now => span(monday(now), addMs(monday(now), days(7)), 'this week')],
  [/\b(?:in )?last week\b/, now => span(addMs(monday(now), -days(7)), monday(now), 'last week')],
  [/\b(?:in )?this month\b/, now => inMonth(now.getUTCFullYear(), now.getUTCMonth(), 'this month')],
  [/\b(?:in )?last month\b/, now => inMonth(now.getUTCFullYear(), now.getUTCMonth() - 1, 'last month')],
  [/\b(?:in )?this year\b/, now => inYear(now.getUTCFullYear(), 'this year')],
  [/\b(?:in )?last year\b/, now => inYear(now.getUTCFullYear() - 1, 'last year')],
]

const inMonth = (year: number, index: number, label: string): ParsedPeriod =>
  span(month(year, index), month(year, index + 1), label)

const inYear = (year: number, label: string): ParsedPeriod => span(month(year, 0), month(year + 1, 0), label)

const LAST_DAYS = /\b(?:in |over |during )?(?:the )?(?:last|past) (\d{1,3}) days\b/
const IN_MONTH = new RegExp(`\\b(?:in|of|during|for) (${MONTHS.join('|')})(?: (\\d{4}))?\\b`)
const IN_ISO = /\b(?:in )?(\d{4})-(0[1-9]|1[0-2])\b(?!-)/
const PLACEHOLDER = '‹period›'

/** Replaces a named span by a placeholder. A month without a year is the most recent one of its name. */
export function extractPeriod(text: string, now: Date): { text: string; period?: ParsedPeriod } {
  for (const [pattern, periodAt] of named)
    if (pattern.test(text)) return { text: text.replace(pattern, PLACEHOLDER), period: periodAt(now) }
  const [wholeDays, count] = LAST_DAYS.exec(text) ?? []
  if (wholeDays && Number(count) > 0) {
    const to = addMs(day(now), days(1))
    return {
      text: text.replace(wholeDays, PLACEHOLDER),
      period: span(addMs(to, -days(Number(count))), to, `the last ${count} days`),
    }
  }
  const [wholeMonth, name = '', year] = IN_MONTH.exec(text) ?? []
  if (wholeMonth)
    return { text: text.replace(wholeMonth, PLACEHOLDER), period: inNamedMonth(name, year, now) }
  const [wholeIso, isoYear, isoMonth] = IN_ISO.exec(text) ?? []
  if (wholeIso) {
    const period = inMonth(Number(isoYear), Number(isoMonth) - 1, `${isoYear}-${isoMonth}`)
    return { text: text.replace(wholeIso, PLACEHOLDER), period }
  }
  return { text }
}

function inNamedMonth(name: string, given: string | undefined, now: Date): ParsedPeriod {
  const index = MONTHS.indexOf(name)
  const thisYear = now.getUTCFullYear()
  const year = given ? Number(given) : index > now.getUTCMonth() ? thisYear - 1 : thisYear
  return inMonth(year, index, `${name.charAt(0).toUpperCase()}${name.slice(1)} ${year}`)
}

export const thisMonth = (now: Date): ParsedPeriod =>
  inMonth(now.getUTCFullYear(), now.getUTCMonth(), 'this month')

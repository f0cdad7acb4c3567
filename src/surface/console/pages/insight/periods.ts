const DAY_MS = 86_400_000

export type PeriodName = 'day' | 'week' | 'month'

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The first day of the period in which a day lies: weeks begin on Mondays. */
function beginOf(day: string, name: PeriodName): string {
  if (name === 'month') return `${day.slice(0, 7)}-01`
  const at = Date.parse(day)
  return name === 'day' ? day : dayOf(at - ((new Date(at).getUTCDay() + 6) % 7) * DAY_MS)
}

/** The first days of all periods of a span, also of those in which nothing was. */
export function periodsIn(from: string, to: string, name: PeriodName): string[] {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  const begins = Array.from({ length: days }, (_, n) => beginOf(dayOf(Date.parse(from) + n * DAY_MS), name))
  return [...new Set(begins)]
}

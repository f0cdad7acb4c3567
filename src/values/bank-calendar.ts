import { addMs } from './clock.ts'

/** T2, the settlement system of the Eurosystem, keeps its calendar and its cut-offs in the time of Frankfurt. */
const ZONE = 'Europe/Berlin'

const frankfurtClock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: ZONE,
  dateStyle: 'short',
  timeStyle: 'short',
})

export const bankDateOf = (at: Date): string => frankfurtClock.format(at).slice(0, 10)

export const bankTimeOf = (at: Date): string => frankfurtClock.format(at).slice(11, 16)

/** A time that the change to summer time skips is an hour later. */
export function atBankTime(day: string, time: string): Date {
  const [summer, winter] = ['+02:00', '+01:00'].map(offset => new Date(`${day}T${time}:00${offset}`)) as [
    Date,
    Date,
  ]
  return frankfurtClock.format(summer) === `${day} ${time}` ? summer : winter
}

const DAY = 86_400_000

export const addCalendarDays = (day: string, days = 1): string =>
  new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10)

/** T2 is closed at weekends, New Year, Good Friday, Easter Monday, 1 May, 25 and 26 December. */
export function isBankDay(day: string): boolean {
  const weekday = new Date(day).getUTCDay()
  if (weekday === 0 || weekday === 6) return false
  if (['01-01', '05-01', '12-25', '12-26'].includes(day.slice(5))) return false
  const easter = easterOf(Number(day.slice(0, 4)))
  return day !== addCalendarDays(easter, -2) && day !== addCalendarDays(easter, 1)
}

export const bankDayOnOrAfter = (day: string): string =>
  isBankDay(day) ? day : bankDayOnOrAfter(addCalendarDays(day))

/** Hours of other days do not count. */
export function addBankHours(at: Date, hours: number): Date {
  return addBankTime(at, hours * 3_600_000)
}

function addBankTime(at: Date, ms: number): Date {
  const day = bankDateOf(at)
  const bankDay = bankDayOnOrAfter(day)
  const start = bankDay === day ? at : atBankTime(bankDay, '00:00')
  const end = atBankTime(addCalendarDays(bankDay), '00:00')
  const left = end.getTime() - start.getTime()
  return ms <= left ? addMs(start, ms) : addBankTime(end, ms - left)
}

/** Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher. */
function easterOf(year: number): string {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const yearOfCentury = year % 100
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3)
  const moon = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30
  const toSunday =
    (32 + 2 * (century % 4) + 2 * Math.floor(yearOfCentury / 4) - moon - (yearOfCentury % 4)) % 7
  const late = Math.floor((golden + 11 * moon + 22 * toSunday) / 451)
  return addCalendarDays(`${year}-03-01`, moon + toSunday - 7 * late + 21)
}

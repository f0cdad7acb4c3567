/** The days of T2, on which banks settle in euros, and the time of day by which they reckon: that of Frankfurt. */
const ZONE = 'Europe/Berlin'

/** `2026-11-20 15:00`, as clocks there show it. */
const frankfurtClock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: ZONE,
  dateStyle: 'short',
  timeStyle: 'short',
})

/** The day that it is there: `2026-11-20`. */
export const bankDateOf = (at: Date): string => frankfurtClock.format(at).slice(0, 10)

/** When it is `15:00` there, on a day. A time that the change of the clocks leaves out is an hour later. */
export function atBankTime(day: string, time: string): Date {
  const [summer, winter] = ['+02:00', '+01:00'].map(offset => new Date(`${day}T${time}:00${offset}`)) as [
    Date,
    Date,
  ]
  return frankfurtClock.format(summer) === `${day} ${time}` ? summer : winter
}

const DAY = 86_400_000

export const addDays = (day: string, days = 1): string =>
  new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10)

/** Whether banks settle: not at weekends, New Year, Good Friday, Easter Monday, 1 May and the two days of Christmas. */
export function isBankDay(day: string): boolean {
  const weekday = new Date(day).getUTCDay()
  if (weekday === 0 || weekday === 6) return false
  if (['01-01', '05-01', '12-25', '12-26'].includes(day.slice(5))) return false
  const easter = easterOf(Number(day.slice(0, 4)))
  return day !== addDays(easter, -2) && day !== addDays(easter, 1)
}

/** This day, or the next one on which banks settle. */
export const bankDayOnOrAfter = (day: string): string =>
  isBankDay(day) ? day : bankDayOnOrAfter(addDays(day))

/** Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher. */
function easterOf(year: number): string {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const ofCentury = year % 100
  const moved = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3)
  const moon = (19 * golden + century - Math.floor(century / 4) - moved + 15) % 30
  const toSunday = (32 + 2 * (century % 4) + 2 * Math.floor(ofCentury / 4) - moon - (ofCentury % 4)) % 7
  const late = Math.floor((golden + 11 * moon + 22 * toSunday) / 451)
  return addDays(`${year}-03-01`, moon + toSunday - 7 * late + 21)
}

const ADULT_YEARS = 18

interface Born {
  readonly dateOfBirth: string
}

/** Today, this many years ago, as a date. On 29 February in a year without one it is the first of March. */
function yearsAgo(years: number, now: Date): string {
  const day = new Date(now)
  day.setUTCFullYear(day.getUTCFullYear() - years)
  return day.toISOString().slice(0, 10)
}

/** The first date of birth that cannot be right, in words that name the member. */
export function unlikelyBirth(
  {
    representatives = [],
    beneficialOwners = [],
  }: {
    readonly representatives?: readonly Born[] | undefined
    readonly beneficialOwners?: readonly Born[] | undefined
  },
  now: Date,
): string | undefined {
  const minor = representatives.findIndex(({ dateOfBirth }) => dateOfBirth > yearsAgo(ADULT_YEARS, now))
  if (minor >= 0)
    return `representatives.${minor}.dateOfBirth: a representative is at least ${ADULT_YEARS} years old`
  const unborn = beneficialOwners.findIndex(({ dateOfBirth }) => dateOfBirth > yearsAgo(0, now))
  return unborn < 0 ? undefined : `beneficialOwners.${unborn}.dateOfBirth: this day is still to come`
}

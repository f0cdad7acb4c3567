// Apart from `clock.ts`, which needs a package: the command and the verifiers have none.

/** `21 Nov 2026 09:30 UTC` */
export function formatMinute(at: Date): string {
  const [, day, month, year] = at.toUTCString().split(' ')
  return `${day} ${month} ${year} ${at.toISOString().slice(11, 16)} UTC`
}

import { z } from 'zod'

export { clock } from './system-clock.ts'

export const minutes = (count: number): number => count * 60_000
export const days = (count: number): number => minutes(count * 24 * 60)

export const backoffDelay = (first: number, failures: number, longest: number): number =>
  Math.min(first * 2 ** Math.min(failures, 20), longest)

export const addMs = (from: Date, milliseconds: number): Date => new Date(from.getTime() + milliseconds)

/** `2026-11-21`, in UTC. */
export const utcDay = (at: Date): string => at.toISOString().slice(0, 10)

/** ISO 8601, milliseconds, UTC. */
export const instant = z
  .codec(z.iso.datetime({ offset: true }).max(40), z.date(), {
    decode: (text, context) => {
      const date = new Date(text)
      const year = date.getUTCFullYear()
      if (year >= 1 && year <= 9999) return date
      context.issues.push({ code: 'custom', message: 'a year has four digits', input: text })
      return z.NEVER
    },
    encode: date => date.toISOString(),
  })
  .meta({ examples: ['2026-11-20T09:30:00.000Z'] })

import type { SecurityIncident } from '../incident.ts'

/** From which report on a field is asked for. */
export type FromStage = 'initial' | 'intermediate' | 'final'

export interface Field {
  /** As the Annexes of Implementing Regulation (EU) 2025/302 number it, and name it. */
  readonly number: string
  readonly name: string
  readonly from: FromStage
  /** Asked for of everybody; else only where it applies. */
  readonly isAlways: boolean
  /** Read off the incident; a field without it is filled in by people. */
  readonly read?: (incident: SecurityIncident, about: ReportAbout) => string | null
}

/** What a report tells beside the incident. */
export interface ReportAbout {
  readonly submission: string
  readonly holder: string
}

type Read = NonNullable<Field['read']>
type Line = readonly [number: string, name: string, needed: 'always' | 'applicable', read?: Read]

export const fieldsOf = (from: FromStage, lines: readonly Line[]): Field[] =>
  lines.map(([number, name, needed, read]) => ({
    number,
    name,
    from,
    isAlways: needed === 'always',
    ...(read && { read }),
  }))

/** `2026-11-22T09:30:05Z`, as the template wants instants. */
export const instantText = (at: Date | null): string | null => at && `${at.toISOString().slice(0, 19)}Z`

export const numberText = (value: number | null | undefined): string | null =>
  value === null || value === undefined ? null : String(value)

export const listText = (values: readonly string[]): string | null =>
  values.length > 0 ? values.join(', ') : null

/** `13.3`: Annex II wants one decimal at most, and no sign. */
export function percentText(
  part: number | null | undefined,
  whole: number | null | undefined,
): string | null {
  if (part === null || part === undefined || !whole) return null
  return String(Math.round((part * 1_000) / whole) / 10)
}

/** `00:02:05`: days, hours and minutes, as Annex II wants a span of time. */
export function spanText(minutes: number | null | undefined): string | null {
  if (minutes === null || minutes === undefined) return null
  const parts = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24, minutes % 60]
  return parts.map(part => String(part).padStart(2, '0')).join(':')
}

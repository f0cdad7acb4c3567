import type { ReportStage } from '../clocks.ts'
import type { SecurityIncident } from '../incident.ts'
import type { Field } from './field.ts'
import { isNeeded, sections } from './fields.ts'
import { READINGS, type ReportAbout } from './known.ts'

/** The reports that have a form in the Annex; the data protection authority has its own. */
export type ReportedStage = Exclude<ReportStage, 'data_protection'>

export interface ReportField {
  readonly number: string
  readonly name: string
  readonly value: string | null
  /** Asked for by this report, and not known yet. */
  readonly isMissing: boolean
}

export interface Report {
  readonly sections: readonly { readonly title: string; readonly fields: readonly ReportField[] }[]
  /** The fields that are missing, each with its number. */
  readonly missing: readonly string[]
}

const SUBMISSIONS: Readonly<Record<ReportedStage, string>> = {
  initial: 'initial notification',
  intermediate: 'intermediate report',
  final: 'final report',
  reclassification: 'major incident reclassified as non-major',
}

/** The fields that the reclassification is asked for: who reports, which incident, and why. */
const OF_RECLASSIFICATION = new Set(['1.1', '1.2', '1.3', '1.4', '1.7', '1.8', '1.9', '2.1', '2.10'])

/** Fills in what is known, and names what is missing. */
export function reportOf(incident: SecurityIncident, stage: ReportedStage, holder: string): Report {
  const about: ReportAbout = { submission: SUBMISSIONS[stage], holder }
  const entryOf = (number: string): string | null =>
    incident.fields[number] ?? READINGS[number]?.(incident, about) ?? reclassified(incident, stage, number)
  const isAsked = (field: Field): boolean =>
    stage === 'reclassification'
      ? OF_RECLASSIFICATION.has(field.number)
      : isNeeded(field, stage, incident, entryOf)
  const filled = sections.map(({ title, fields }) => ({
    title,
    fields: fields.map((field): ReportField => {
      const value = entryOf(field.number)
      return { number: field.number, name: field.name, value, isMissing: value === null && isAsked(field) }
    }),
  }))
  const missing = filled.flatMap(({ fields }) =>
    fields.flatMap(({ number, name, isMissing }) => (isMissing ? [`${number} ${name}`] : [])),
  )
  return { sections: filled, missing }
}

/** Why the incident is not major after all stands in the decision. */
function reclassified({ decisions }: SecurityIncident, stage: ReportStage, number: string): string | null {
  return stage === 'reclassification' && number === '2.10' ? (decisions.at(-1)?.reasons ?? null) : null
}

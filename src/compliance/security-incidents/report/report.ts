import type { ReportStage } from '../clocks.ts'
import type { SecurityIncident } from '../incident.ts'
import type { ReportAbout } from './field.ts'
import { isNeeded, sections } from './fields.ts'

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

const SUBMISSIONS: Readonly<Record<ReportStage, string>> = {
  initial: 'initial notification',
  intermediate: 'intermediate report',
  final: 'final report',
  reclassification: 'major incident reclassified as non-major',
  data_protection: 'notification of a personal data breach',
}

/** The fields that the reclassification is asked for: who reports, which incident, and why. */
const OF_RECLASSIFICATION = new Set(['1.1', '1.2', '1.3', '1.4', '1.7', '1.8', '1.9', '2.1', '2.10'])

/** Fills in what is known, and names what is missing. */
export function reportOf(incident: SecurityIncident, stage: ReportStage, holder: string): Report {
  const about: ReportAbout = { submission: SUBMISSIONS[stage], holder }
  const filled = sections.map(({ title, fields }) => ({
    title,
    fields: fields.map((field): ReportField => {
      const value =
        incident.fields[field.number] ??
        field.read?.(incident, about) ??
        reclassified(incident, stage, field.number)
      const isAsked =
        stage === 'reclassification' ? OF_RECLASSIFICATION.has(field.number) : isNeeded(field, stage)
      return { number: field.number, name: field.name, value, isMissing: isAsked && value === null }
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

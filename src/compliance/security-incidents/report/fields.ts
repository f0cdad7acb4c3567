import { z } from 'zod'
import type { SecurityIncident } from '../incident.ts'
import * as choices from './choices.ts'
import {
  countFormat,
  dateTimeFormat,
  durationFormat,
  emailFormat,
  type FieldFormat,
  leiFormat,
  leiOrEuidFormat,
  multipleChoiceFormat,
  percentFormat,
  singleChoiceFormat,
  splitChoices,
  telephoneFormat,
  textFormat,
  thousandEurosFormat,
  yesNoFormat,
} from './forms.ts'

type FromStage = 'initial' | 'intermediate' | 'final'

type EntryOf = (number: string) => string | null

type Where = (entryOf: EntryOf, incident: SecurityIncident) => boolean

export interface ReportFieldSpec {
  /** Number and name as in the Annexes of Implementing Regulation (EU) 2025/302. */
  readonly number: string
  readonly name: string
  readonly from: FromStage
  /** When it is required; `applicable`: a person knows whether it applies. */
  readonly needed: 'always' | 'applicable' | Where
  readonly form: FieldFormat
}

type Line = readonly [number: string, name: string, needed: ReportFieldSpec['needed'], form: FieldFormat]

const fieldsOf = (from: FromStage, lines: readonly Line[]): ReportFieldSpec[] =>
  lines.map(([number, name, needed, form]) => ({ number, name, from, needed, form }))

/** Required if another field has one of these values; without values, if it has any. */
const where =
  (number: string, ...choices: readonly string[]): Where =>
  entryOf =>
    choices.length === 0
      ? entryOf(number) !== null
      : splitChoices(entryOf(number)).some(part => choices.includes(part))

const unlessNone =
  (number: string): Where =>
  entryOf =>
    entryOf(number) !== '0'

const generalFields: readonly ReportFieldSpec[] = fieldsOf('initial', [
  ['1.1', 'Type of submission', 'always', textFormat],
  ['1.2', 'Name of the entity submitting the report', 'always', textFormat],
  ['1.3', 'Identification code of the entity submitting the report', 'always', leiOrEuidFormat],
  ['1.4', 'Type of financial entity affected', 'always', multipleChoiceFormat(choices.ENTITY_TYPE_CHOICES)],
  ['1.5', 'Name of the financial entity affected', 'applicable', textFormat],
  ['1.6', 'LEI code of the financial entity affected', where('1.5'), leiFormat],
  ['1.7', 'Primary contact person name', 'always', textFormat],
  ['1.8', 'Primary contact person email', 'always', emailFormat],
  ['1.9', 'Primary contact person telephone', 'always', telephoneFormat],
  ['1.10', 'Second contact person name', 'always', textFormat],
  ['1.11', 'Second contact person email', 'always', emailFormat],
  ['1.12', 'Second contact person telephone', 'always', telephoneFormat],
  ['1.13', 'Name of the ultimate parent undertaking', 'applicable', textFormat],
  ['1.14', 'LEI code of the ultimate parent undertaking', where('1.13'), leiFormat],
  ['1.15', 'Reporting currency', 'always', textFormat],
])

const { CRITERION_CHOICES: CRITERIA, INCIDENT_TYPE_CHOICES: INCIDENT_TYPES } = choices

const initialFields: readonly ReportFieldSpec[] = fieldsOf('initial', [
  ['2.1', 'Incident reference code assigned by the financial entity', 'always', textFormat],
  ['2.2', 'Date and time of detection of the major ICT-related incident', 'always', dateTimeFormat],
  ['2.3', 'Date and time of classification of the ICT-related incident as major', 'always', dateTimeFormat],
  ['2.4', 'Description of the major ICT-related incident', 'always', textFormat],
  [
    '2.5',
    'Classification criteria that triggered the incident report',
    'always',
    multipleChoiceFormat(Object.values(CRITERIA)),
  ],
  [
    '2.6',
    'Materiality thresholds for the classification criterion ‘Geographical spread’',
    where('2.5', CRITERIA.geography),
    multipleChoiceFormat(choices.MEMBER_STATE_CHOICES),
  ],
  [
    '2.7',
    'Discovery of the major ICT-related incident',
    'always',
    singleChoiceFormat(choices.DISCOVERER_CHOICES),
  ],
  [
    '2.8',
    'Indication whether the major ICT-related incident originates from a third-party provider or another financial entity',
    'applicable',
    textFormat,
  ],
  ['2.9', 'Activation of business continuity plan, if activated', 'always', yesNoFormat],
  ['2.10', 'Other relevant information', 'applicable', textFormat],
])

const unlessThereWasNone: ReportFieldSpec['needed'] = (_, { criteria }) => criteria?.downtimeMinutes !== 0

const intermediateFields: readonly ReportFieldSpec[] = fieldsOf('intermediate', [
  ['3.1', 'Incident reference code provided by the competent authority', 'applicable', textFormat],
  ['3.2', 'Date and time of occurrence of the major ICT-related incident', 'always', dateTimeFormat],
  [
    '3.3',
    'Date and time when services, activities or operations have been recovered',
    where('3.16'),
    dateTimeFormat,
  ],
  ['3.4', 'Number of clients affected', 'always', countFormat],
  ['3.5', 'Percentage of clients affected', 'always', percentFormat],
  ['3.6', 'Number of financial counterparts affected', 'always', countFormat],
  ['3.7', 'Percentage of financial counterparts affected', 'always', percentFormat],
  ['3.8', 'Impact on relevant clients or financial counterparts', 'applicable', yesNoFormat],
  ['3.9', 'Number of affected transactions', 'always', countFormat],
  ['3.10', 'Percentage of affected transactions', unlessNone('3.9'), percentFormat],
  ['3.11', 'Value of affected transactions', unlessNone('3.9'), thousandEurosFormat],
  [
    '3.12',
    'Information on whether the numbers are actual or estimates, or whether there has not been any impact',
    'always',
    multipleChoiceFormat(choices.FIGURE_CHOICES),
  ],
  [
    '3.13',
    'Reputational impact',
    where('2.5', CRITERIA.reputation),
    multipleChoiceFormat(Object.values(choices.REPUTATION_CHOICES)),
  ],
  [
    '3.14',
    'Contextual information about the reputational impact',
    where('2.5', CRITERIA.reputation),
    textFormat,
  ],
  ['3.15', 'Duration of the major ICT-related incident', 'always', durationFormat],
  ['3.16', 'Service downtime', unlessThereWasNone, durationFormat],
  [
    '3.17',
    'Information on whether the numbers for duration and service downtime are actual or estimates',
    where('3.16'),
    singleChoiceFormat(choices.TIME_FIGURE_CHOICES),
  ],
  [
    '3.18',
    'Types of impact in the Member States',
    where('2.5', CRITERIA.geography),
    multipleChoiceFormat(choices.IMPACT_CHOICES),
  ],
  [
    '3.19',
    'Description of how the major ICT-related incident has an impact in other Member States',
    where('2.5', CRITERIA.geography),
    textFormat,
  ],
  [
    '3.20',
    'Materiality thresholds for the classification criterion ‘Data losses’',
    where('2.5', CRITERIA.data),
    multipleChoiceFormat(choices.DATA_LOSS_CHOICES),
  ],
  ['3.21', 'Description of the data losses', where('2.5', CRITERIA.data), textFormat],
  ['3.22', 'Classification criterion ‘Critical services affected’', 'always', textFormat],
  [
    '3.23',
    'Type of the major ICT-related incident',
    'always',
    multipleChoiceFormat(Object.values(INCIDENT_TYPES)),
  ],
  ['3.24', 'Other types of incidents', where('3.23', INCIDENT_TYPES.other), textFormat],
  [
    '3.25',
    'Threats and techniques used by the threat actor',
    where('3.23', INCIDENT_TYPES.cybersecurity),
    multipleChoiceFormat(choices.ATTACK_TECHNIQUE_CHOICES),
  ],
  ['3.26', 'Other types of techniques', where('3.25', 'other'), textFormat],
  ['3.27', 'Information about affected functional areas and business processes', 'always', textFormat],
  [
    '3.28',
    'Affected infrastructure components supporting business processes',
    'always',
    singleChoiceFormat(choices.YES_NO_UNKNOWN_CHOICES),
  ],
  [
    '3.29',
    'Information about affected infrastructure components supporting business processes',
    where('3.28', 'yes'),
    textFormat,
  ],
  [
    '3.30',
    'Impact on the financial interest of clients',
    'always',
    singleChoiceFormat(choices.YES_NO_UNKNOWN_CHOICES),
  ],
  ['3.31', 'Reporting to other authorities', 'always', multipleChoiceFormat(choices.AUTHORITY_CHOICES)],
  ['3.32', 'Specification of ‘other’ authorities', where('3.31', 'other'), textFormat],
  [
    '3.33',
    'Temporary actions/measures taken or planned to be taken to recover from the incident',
    'always',
    yesNoFormat,
  ],
  [
    '3.34',
    'Description of any temporary actions and measures taken or planned to be taken to recover from the incident',
    where('3.33', 'yes'),
    textFormat,
  ],
  ['3.35', 'Indicators of compromise', where('3.23', INCIDENT_TYPES.cybersecurity), textFormat],
])

const isRecurring: ReportFieldSpec['needed'] = (_, { criteria }) => criteria?.recurring === true

const finalFields: readonly ReportFieldSpec[] = fieldsOf('final', [
  [
    '4.1',
    'High-level classification of root causes of the incident',
    'always',
    multipleChoiceFormat(choices.ROOT_CAUSE_CHOICES),
  ],
  [
    '4.2',
    'Detailed classification of root causes of the incident',
    'always',
    multipleChoiceFormat(choices.DETAILED_CAUSE_CHOICES),
  ],
  [
    '4.3',
    'Additional classification of root causes of the incident',
    where('4.2', ...choices.SUBDIVIDED_CAUSE_CHOICES),
    multipleChoiceFormat(choices.ADDITIONAL_CAUSE_CHOICES),
  ],
  ['4.4', 'Other types of root cause types', where('4.2', ...choices.OTHER_CAUSE_CHOICES), textFormat],
  ['4.5', 'Information about the root causes of the incident', 'always', textFormat],
  ['4.6', 'Incident resolution summary', 'always', textFormat],
  ['4.7', 'Date and time when the incident root cause was addressed', 'always', dateTimeFormat],
  ['4.8', 'Date and time when the incident was resolved', 'always', dateTimeFormat],
  [
    '4.9',
    'Information if the permanent resolution date of the incident differs from the initially planned implementation date',
    'applicable',
    textFormat,
  ],
  ['4.10', 'Assessment of risk to critical functions for resolution purposes', 'applicable', textFormat],
  ['4.11', 'Information relevant for resolution authorities', 'applicable', textFormat],
  ['4.12', 'Materiality threshold for the classification criterion ‘Economic impact’', 'always', textFormat],
  ['4.13', 'Amount of gross direct and indirect costs and losses', 'always', thousandEurosFormat],
  ['4.14', 'Amount of financial recoveries', 'always', thousandEurosFormat],
  ['4.15', 'Information on whether the non-major incidents have been recurring', isRecurring, textFormat],
  ['4.16', 'Date and time of occurrence of recurring incidents', where('4.15'), dateTimeFormat],
])

/**
 * The data fields of Implementing Regulation (EU) 2025/302, Annex I, with its numbers and names, so that an
 * authority's form is filled in line by line.
 */
export const reportSections = [
  { title: 'General information about the financial entity', fields: generalFields },
  { title: 'Content of the initial notification', fields: initialFields },
  { title: 'Content of the intermediate report', fields: intermediateFields },
  { title: 'Content of the final report', fields: finalFields },
] as const

const allFields: readonly ReportFieldSpec[] = reportSections.flatMap(({ fields }) => fields)

const STAGES = ['initial', 'intermediate', 'final'] as const

export function isFieldRequired(
  { from, needed }: ReportFieldSpec,
  stage: (typeof STAGES)[number],
  incident: SecurityIncident,
  entryOf: EntryOf,
): boolean {
  if (STAGES.indexOf(from) > STAGES.indexOf(stage) || needed === 'applicable') return false
  return needed === 'always' || needed(entryOf, incident)
}

/** Fields that the incident itself determines: an entry would contradict it. */
const FIXED = new Set(['1.1', '1.15', '2.1', '2.2', '2.3', '2.4', '3.2', '3.3', '4.8'])

const about = (name: string, { description }: { readonly description?: string | undefined } = {}): string =>
  description ? `${name}. ${description}` : `${name}.`

/** Fields that people fill in, by number. An entry overrides the value derived from the incident; null removes it. */
export const reportFieldEntriesSchema = z
  .strictObject(
    Object.fromEntries(
      allFields
        .filter(({ number }) => !FIXED.has(number))
        .map(({ number, name, form }) => [
          number,
          form
            .nullable()
            .optional()
            .meta({ description: about(name, form.meta()) }),
        ]),
    ),
  )
  .meta({ id: 'IncidentReportFields' })
export type ReportFieldEntries = Readonly<Record<string, string | null | undefined>>

/** The fields about the entity are carried over to the next incident. */
export const isEntityField = (number: string): boolean => number.startsWith('1.')

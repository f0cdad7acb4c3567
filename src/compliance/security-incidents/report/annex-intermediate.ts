import * as choices from './choices.ts'
import { type Field, fieldsOf, unlessNone, where } from './field.ts'
import { count, one, share, some, span, thousands, time, words, yesOrNo } from './forms.ts'

const { CRITERIA, INCIDENT_TYPES } = choices

const unlessThereWasNone: Field['needed'] = (_, { criteria }) => criteria?.downtimeMinutes !== 0

export const intermediateFields: readonly Field[] = fieldsOf('intermediate', [
  ['3.1', 'Incident reference code provided by the competent authority', 'applicable', words],
  ['3.2', 'Date and time of occurrence of the major ICT-related incident', 'always', time],
  ['3.3', 'Date and time when services, activities or operations have been recovered', where('3.16'), time],
  ['3.4', 'Number of clients affected', 'always', count],
  ['3.5', 'Percentage of clients affected', 'always', share],
  ['3.6', 'Number of financial counterparts affected', 'always', count],
  ['3.7', 'Percentage of financial counterparts affected', 'always', share],
  ['3.8', 'Impact on relevant clients or financial counterparts', 'applicable', yesOrNo],
  ['3.9', 'Number of affected transactions', 'always', count],
  ['3.10', 'Percentage of affected transactions', unlessNone('3.9'), share],
  ['3.11', 'Value of affected transactions', unlessNone('3.9'), thousands],
  [
    '3.12',
    'Information on whether the numbers are actual or estimates, or whether there has not been any impact',
    'always',
    some(choices.FIGURES),
  ],
  ['3.13', 'Reputational impact', where('2.5', CRITERIA.reputation), some(Object.values(choices.REPUTATION))],
  ['3.14', 'Contextual information about the reputational impact', where('2.5', CRITERIA.reputation), words],
  ['3.15', 'Duration of the major ICT-related incident', 'always', span],
  ['3.16', 'Service downtime', unlessThereWasNone, span],
  [
    '3.17',
    'Information on whether the numbers for duration and service downtime are actual or estimates',
    where('3.16'),
    one(choices.TIMES),
  ],
  ['3.18', 'Types of impact in the Member States', where('2.5', CRITERIA.geography), some(choices.IMPACTS)],
  [
    '3.19',
    'Description of how the major ICT-related incident has an impact in other Member States',
    where('2.5', CRITERIA.geography),
    words,
  ],
  [
    '3.20',
    'Materiality thresholds for the classification criterion ‘Data losses’',
    where('2.5', CRITERIA.data),
    some(choices.LOSSES),
  ],
  ['3.21', 'Description of the data losses', where('2.5', CRITERIA.data), words],
  ['3.22', 'Classification criterion ‘Critical services affected’', 'always', words],
  ['3.23', 'Type of the major ICT-related incident', 'always', some(Object.values(INCIDENT_TYPES))],
  ['3.24', 'Other types of incidents', where('3.23', INCIDENT_TYPES.other), words],
  [
    '3.25',
    'Threats and techniques used by the threat actor',
    where('3.23', INCIDENT_TYPES.cybersecurity),
    some(choices.TECHNIQUES),
  ],
  ['3.26', 'Other types of techniques', where('3.25', 'other'), words],
  ['3.27', 'Information about affected functional areas and business processes', 'always', words],
  [
    '3.28',
    'Affected infrastructure components supporting business processes',
    'always',
    one(choices.WHETHER),
  ],
  [
    '3.29',
    'Information about affected infrastructure components supporting business processes',
    where('3.28', 'yes'),
    words,
  ],
  ['3.30', 'Impact on the financial interest of clients', 'always', one(choices.WHETHER)],
  ['3.31', 'Reporting to other authorities', 'always', some(choices.AUTHORITIES)],
  ['3.32', 'Specification of ‘other’ authorities', where('3.31', 'other'), words],
  [
    '3.33',
    'Temporary actions/measures taken or planned to be taken to recover from the incident',
    'always',
    yesOrNo,
  ],
  [
    '3.34',
    'Description of any temporary actions and measures taken or planned to be taken to recover from the incident',
    where('3.33', 'yes'),
    words,
  ],
  ['3.35', 'Indicators of compromise', where('3.23', INCIDENT_TYPES.cybersecurity), words],
])

import { type Field, fieldsOf, instantText, numberText } from './field.ts'

export const finalFields: readonly Field[] = fieldsOf('final', [
  ['4.1', 'High-level classification of root causes of the incident', 'always'],
  ['4.2', 'Detailed classification of root causes of the incident', 'always'],
  ['4.3', 'Additional classification of root causes of the incident', 'applicable'],
  ['4.4', 'Other types of root cause types', 'applicable'],
  ['4.5', 'Information about the root causes of the incident', 'always'],
  ['4.6', 'Incident resolution summary', 'always'],
  ['4.7', 'Date and time when the incident root cause was addressed', 'always'],
  [
    '4.8',
    'Date and time when the incident was resolved',
    'always',
    ({ resolvedAt }) => instantText(resolvedAt),
  ],
  [
    '4.9',
    'Information if the permanent resolution date of the incident differs from the initially planned implementation date',
    'applicable',
  ],
  ['4.10', 'Assessment of risk to critical functions for resolution purposes', 'applicable'],
  ['4.11', 'Information relevant for resolution authorities', 'applicable'],
  [
    '4.12',
    'Materiality threshold for the classification criterion ‘Economic impact’',
    'applicable',
    ({ criteria }) =>
      criteria?.costsEuros === null || !criteria
        ? null
        : criteria.costsEuros > 100_000
          ? 'more than EUR 100 000'
          : 'not met',
  ],
  [
    '4.13',
    'Amount of gross direct and indirect costs and losses',
    'always',
    ({ criteria }) => numberText(criteria?.costsEuros),
  ],
  ['4.14', 'Amount of financial recoveries', 'always'],
  [
    '4.15',
    'Information on whether the non-major incidents have been recurring',
    'applicable',
    ({ criteria }) => (criteria?.recurring ? 'yes' : null),
  ],
  ['4.16', 'Date and time of occurrence of recurring incidents', 'applicable'],
])

import * as choices from './choices.ts'
import { type Field, fieldsOf, where } from './field.ts'
import { some, thousands, time, words } from './forms.ts'

const isRecurring: Field['needed'] = (_, { criteria }) => criteria?.recurring === true

export const finalFields: readonly Field[] = fieldsOf('final', [
  ['4.1', 'High-level classification of root causes of the incident', 'always', some(choices.CAUSES)],
  ['4.2', 'Detailed classification of root causes of the incident', 'always', some(choices.CAUSES_IN_DETAIL)],
  [
    '4.3',
    'Additional classification of root causes of the incident',
    where('4.2', ...choices.CAUSES_WITH_MORE),
    some(choices.CAUSES_IN_MORE_DETAIL),
  ],
  ['4.4', 'Other types of root cause types', where('4.2', ...choices.OTHER_CAUSES), words],
  ['4.5', 'Information about the root causes of the incident', 'always', words],
  ['4.6', 'Incident resolution summary', 'always', words],
  ['4.7', 'Date and time when the incident root cause was addressed', 'always', time],
  ['4.8', 'Date and time when the incident was resolved', 'always', time],
  [
    '4.9',
    'Information if the permanent resolution date of the incident differs from the initially planned implementation date',
    'applicable',
    words,
  ],
  ['4.10', 'Assessment of risk to critical functions for resolution purposes', 'applicable', words],
  ['4.11', 'Information relevant for resolution authorities', 'applicable', words],
  ['4.12', 'Materiality threshold for the classification criterion ‘Economic impact’', 'always', words],
  ['4.13', 'Amount of gross direct and indirect costs and losses', 'always', thousands],
  ['4.14', 'Amount of financial recoveries', 'always', thousands],
  ['4.15', 'Information on whether the non-major incidents have been recurring', isRecurring, words],
  ['4.16', 'Date and time of occurrence of recurring incidents', where('4.15'), time],
])

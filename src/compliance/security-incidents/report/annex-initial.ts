import * as choices from './choices.ts'
import { type Field, fieldsOf, where } from './field.ts'
import { email, lei, leiOrEuid, one, some, telephone, time, words, yesOrNo } from './forms.ts'

/** About the entity that reports. */
export const generalFields: readonly Field[] = fieldsOf('initial', [
  ['1.1', 'Type of submission', 'always', words],
  ['1.2', 'Name of the entity submitting the report', 'always', words],
  ['1.3', 'Identification code of the entity submitting the report', 'always', leiOrEuid],
  ['1.4', 'Type of financial entity affected', 'always', some(choices.ENTITY_TYPES)],
  ['1.5', 'Name of the financial entity affected', 'applicable', words],
  ['1.6', 'LEI code of the financial entity affected', where('1.5'), lei],
  ['1.7', 'Primary contact person name', 'always', words],
  ['1.8', 'Primary contact person email', 'always', email],
  ['1.9', 'Primary contact person telephone', 'always', telephone],
  ['1.10', 'Second contact person name', 'always', words],
  ['1.11', 'Second contact person email', 'always', email],
  ['1.12', 'Second contact person telephone', 'always', telephone],
  ['1.13', 'Name of the ultimate parent undertaking', 'applicable', words],
  ['1.14', 'LEI code of the ultimate parent undertaking', where('1.13'), lei],
  ['1.15', 'Reporting currency', 'always', words],
])

const { CRITERIA } = choices

export const initialFields: readonly Field[] = fieldsOf('initial', [
  ['2.1', 'Incident reference code assigned by the financial entity', 'always', words],
  ['2.2', 'Date and time of detection of the major ICT-related incident', 'always', time],
  ['2.3', 'Date and time of classification of the ICT-related incident as major', 'always', time],
  ['2.4', 'Description of the major ICT-related incident', 'always', words],
  [
    '2.5',
    'Classification criteria that triggered the incident report',
    'always',
    some(Object.values(CRITERIA)),
  ],
  [
    '2.6',
    'Materiality thresholds for the classification criterion ‘Geographical spread’',
    where('2.5', CRITERIA.geography),
    some(choices.MEMBER_STATES),
  ],
  ['2.7', 'Discovery of the major ICT-related incident', 'always', one(choices.DISCOVERERS)],
  [
    '2.8',
    'Indication whether the major ICT-related incident originates from a third-party provider or another financial entity',
    'applicable',
    words,
  ],
  ['2.9', 'Activation of business continuity plan, if activated', 'always', yesOrNo],
  ['2.10', 'Other relevant information', 'applicable', words],
])

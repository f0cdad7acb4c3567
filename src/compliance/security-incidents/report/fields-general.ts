import { type Field, fieldsOf } from './field.ts'

/** About the entity that reports. */
export const generalFields: readonly Field[] = fieldsOf('initial', [
  ['1.1', 'Type of submission', 'always', (_, { submission }) => submission],
  ['1.2', 'Name of the entity submitting the report', 'always', (_, { holder }) => holder],
  ['1.3', 'Identification code of the entity submitting the report', 'always'],
  ['1.4', 'Type of financial entity affected', 'always'],
  ['1.5', 'Name of the financial entity affected', 'applicable'],
  ['1.6', 'LEI code of the financial entity affected', 'applicable'],
  ['1.7', 'Primary contact person name', 'always'],
  ['1.8', 'Primary contact person email', 'always'],
  ['1.9', 'Primary contact person telephone', 'always'],
  ['1.10', 'Second contact person name', 'always'],
  ['1.11', 'Second contact person email', 'always'],
  ['1.12', 'Second contact person telephone', 'always'],
  ['1.13', 'Name of the ultimate parent undertaking', 'applicable'],
  ['1.14', 'LEI code of the ultimate parent undertaking', 'applicable'],
  ['1.15', 'Reporting currency', 'applicable', () => 'EUR'],
])

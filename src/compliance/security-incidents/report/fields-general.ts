import { type Field, fieldsOf } from './field.ts'

/** About the entity that reports. */
export const generalFields: readonly Field[] = fieldsOf('initial', [
  ['1.1', 'Type of submission', 'always', (_, { submission }) => submission],
  ['1.2', 'Name of the entity that submits', 'always', (_, { holder }) => holder],
  ['1.3', 'Identification code of the entity that submits (LEI)', 'always'],
  ['1.4', 'Type of the affected financial entity', 'always'],
  ['1.5', 'Name of the affected financial entity', 'applicable'],
  ['1.6', 'LEI of the affected financial entity', 'applicable'],
  ['1.7', 'First contact: name', 'always'],
  ['1.8', 'First contact: email', 'always'],
  ['1.9', 'First contact: telephone', 'always'],
  ['1.10', 'Second contact: name', 'always'],
  ['1.11', 'Second contact: email', 'always'],
  ['1.12', 'Second contact: telephone', 'always'],
  ['1.13', 'Ultimate parent undertaking: name', 'applicable'],
  ['1.14', 'Ultimate parent undertaking: LEI', 'applicable'],
  ['1.15', 'Reporting currency', 'applicable', () => 'EUR'],
])

import { type Field, fieldsOf, instantText, numberText } from './field.ts'

export const finalFields: readonly Field[] = fieldsOf('final', [
  ['4.1', 'Root causes, in general', 'always'],
  ['4.2', 'Root causes, in detail', 'always'],
  ['4.3', 'Root causes, further classes', 'applicable'],
  ['4.4', 'Other root causes', 'applicable'],
  ['4.5', 'What the root causes were', 'always'],
  ['4.6', 'How the incident was resolved', 'always'],
  ['4.7', 'Root cause addressed', 'always'],
  ['4.8', 'Incident resolved', 'always', ({ resolvedAt }) => instantText(resolvedAt)],
  ['4.9', 'Why it was resolved at another time than planned', 'applicable'],
  ['4.10', 'Risk to critical functions for the purposes of resolution', 'applicable'],
  ['4.11', 'What matters to resolution authorities', 'applicable'],
  [
    '4.12',
    'Threshold of the economic impact',
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
    'Gross direct and indirect costs and losses, in euros',
    'always',
    ({ criteria }) => numberText(criteria?.costsEuros),
  ],
  ['4.14', 'Financial recoveries, in euros', 'always'],
  [
    '4.15',
    'Recurring incidents that are not major by themselves',
    'applicable',
    ({ criteria }) => (criteria?.recurring ? 'yes' : null),
  ],
  ['4.16', 'When recurring incidents occurred', 'applicable'],
])

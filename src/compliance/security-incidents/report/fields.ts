import { z } from 'zod'
import type { SecurityIncident } from '../incident.ts'
import { finalFields } from './annex-final.ts'
import { generalFields, initialFields } from './annex-initial.ts'
import { intermediateFields } from './annex-intermediate.ts'
import type { EntryOf, Field } from './field.ts'

/** The data fields of Implementing Regulation (EU) 2025/302, Annex I: by its numbers, under its names, so that a form of the authority is filled in line by line. */
export const sections = [
  { title: 'General information about the financial entity', fields: generalFields },
  { title: 'Content of the initial notification', fields: initialFields },
  { title: 'Content of the intermediate report', fields: intermediateFields },
  { title: 'Content of the final report', fields: finalFields },
] as const

const allFields: readonly Field[] = sections.flatMap(({ fields }) => fields)

const STAGES = ['initial', 'intermediate', 'final'] as const

/** Whether a report of this stage is asked for the field. */
export function isNeeded(
  { from, needed }: Field,
  stage: (typeof STAGES)[number],
  incident: SecurityIncident,
  entryOf: EntryOf,
): boolean {
  if (STAGES.indexOf(from) > STAGES.indexOf(stage) || needed === 'applicable') return false
  return needed === 'always' || needed(entryOf, incident)
}

/** Those that the incident itself says for good: an entry would contradict it. */
const FIXED = new Set(['1.1', '1.15', '2.1', '2.2', '2.3', '2.4', '3.2', '3.3', '4.8'])

const about = (name: string, { description }: { readonly description?: string | undefined } = {}): string =>
  description ? `${name}. ${description}` : `${name}.`

/** What people fill in, by the numbers of the fields. It goes before what is read off the incident; null takes it back. */
export const fieldEntries = z
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
export type FieldEntries = Readonly<Record<string, string | null | undefined>>

/** The fields about the entity are the same in the next incident. */
export const isAboutEntity = (number: string): boolean => number.startsWith('1.')

import type { SecurityIncident } from '../incident.ts'
import { type Form, partsOf } from './forms.ts'

/** From which report on a field is asked for. */
export type FromStage = 'initial' | 'intermediate' | 'final'

/** What the report says in the field of this number. */
export type EntryOf = (number: string) => string | null

type Where = (entryOf: EntryOf, incident: SecurityIncident) => boolean

export interface Field {
  /** As the Annexes of Implementing Regulation (EU) 2025/302 number it, and name it. */
  readonly number: string
  readonly name: string
  readonly from: FromStage
  /** Where it is asked for; `applicable`: people know whether it is. */
  readonly needed: 'always' | 'applicable' | Where
  readonly form: Form
}

type Line = readonly [number: string, name: string, needed: Field['needed'], form: Form]

export const fieldsOf = (from: FromStage, lines: readonly Line[]): Field[] =>
  lines.map(([number, name, needed, form]) => ({ number, name, from, needed, form }))

/** Where another field says one of these; without any, where it says something. */
export const where =
  (number: string, ...choices: readonly string[]): Where =>
  entryOf =>
    choices.length === 0
      ? entryOf(number) !== null
      : partsOf(entryOf(number)).some(part => choices.includes(part))

/** Unless another field says that there was nothing. */
export const unlessNone =
  (number: string): Where =>
  entryOf =>
    entryOf(number) !== '0'

import { z } from 'zod'
import type { ReportStage } from '../clocks.ts'
import type { Field } from './field.ts'
import { finalFields } from './fields-final.ts'
import { generalFields } from './fields-general.ts'
import { initialFields } from './fields-initial.ts'
import { intermediateFields } from './fields-intermediate.ts'

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
export const isNeeded = ({ from, isAlways }: Field, stage: ReportStage): boolean =>
  isAlways && STAGES.indexOf(from) <= STAGES.indexOf(stage as 'initial')

const text = z.string().trim().min(1).max(4_000).nullable()

/** Identification codes of ISO 17442, whose last two digits make the whole 1 modulo 97. */
const lei = z
  .string()
  .max(20)
  .refine(isLei, 'an LEI has 18 capital letters and digits and two check digits')
  .nullable()
const email = z.email().max(254).nullable()

function isLei(code: string): boolean {
  if (!/^[0-9A-Z]{18}\d{2}$/.test(code)) return false
  const digits = [...code].map(letter => Number.parseInt(letter, 36)).join('')
  return BigInt(digits) % 97n === 1n
}

const FORMS: Readonly<Record<string, z.ZodType<string | null>>> = {
  '1.3': lei,
  '1.6': lei,
  '1.14': lei,
  '1.8': email,
  '1.11': email,
}

/** Those that the incident itself says for good: an entry would contradict it. */
const FIXED = new Set(['1.1', '2.1', '2.2', '2.3', '2.4', '3.2', '3.3', '4.8'])

/** What people fill in, by the numbers of the fields. It goes before what is read off the incident; null takes it back. */
export const fieldEntries = z
  .strictObject(
    Object.fromEntries(
      allFields
        .filter(({ number }) => !FIXED.has(number))
        .map(({ number, name }) => [
          number,
          (FORMS[number] ?? text).optional().meta({ description: `${name}.` }),
        ]),
    ),
  )
  .meta({ id: 'IncidentReportFields' })
export type FieldEntries = Readonly<Record<string, string | null | undefined>>

/** The fields about the entity are the same in the next incident. */
export const isAboutEntity = (number: string): boolean => number.startsWith('1.')

import { z } from 'zod'

/** The format of a field. An entry with several choices lists them in sequence. */
export type FieldFormat = z.ZodType<string>

export const CHOICE_SEPARATOR = '; '
export const joinChoices = (values: readonly string[]): string | null =>
  values.length > 0 ? values.join(CHOICE_SEPARATOR) : null
export const splitChoices = (entry: string | null): readonly string[] => entry?.split(CHOICE_SEPARATOR) ?? []

const LONGEST = 70

const matching = (pattern: RegExp, error: string, example: string): FieldFormat =>
  z
    .string()
    .max(LONGEST)
    .regex(pattern, error)
    .meta({ examples: [example] })

export const textFormat: FieldFormat = z.string().trim().min(1).max(4_000)
export const emailFormat: FieldFormat = z.email().max(254)
export const telephoneFormat = matching(
  /^\+?[1-9][0-9]([-. ]?[0-9]){1,30}$/,
  'a telephone number with the code of its country',
  '+49 30 12345678',
)
export const countFormat = matching(/^\d{1,10}$/, 'a whole number', '1200')
export const percentFormat = matching(
  /^(100|\d{1,2}(\.\d)?)$/,
  'a share from 0 to 100, with one decimal',
  '13.3',
)
export const thousandEurosFormat = matching(
  /^\d{1,12}(\.\d{1,5})?$/,
  'thousands of euros: 2.5 stands for EUR 2,500',
  '42.5',
)
export const durationFormat = matching(
  /^\d{1,3}:([01]\d|2[0-3]):[0-5]\d$/,
  'a span as DD:HH:MM, in days, hours and minutes',
  '00:03:10',
)
export const dateTimeFormat: FieldFormat = z.iso
  .datetime({ precision: 0, error: 'an instant as YYYY-MM-DDThh:mm:ssZ' })
  .max(LONGEST)
  .meta({ examples: ['2026-11-20T11:10:00Z'] })

export const singleChoiceFormat = (choices: readonly string[]): FieldFormat => z.enum(choices)
export const yesNoFormat = singleChoiceFormat(['yes', 'no'])

export const multipleChoiceFormat = (choices: readonly string[]): FieldFormat =>
  z
    .string()
    .max(4_000)
    .refine(entry => new Set(splitChoices(entry)).size === splitChoices(entry).length, 'each choice once')
    .refine(
      entry => splitChoices(entry).every(part => choices.includes(part)),
      `one of these, or several with "${CHOICE_SEPARATOR}" between them: ${choices.join(' | ')}`,
    )
    .meta({ description: `Several are separated by \`${CHOICE_SEPARATOR}\`: ${choices.join(' | ')}.` })

/** Legal entity identifiers (ISO 17442), whose last two digits make the whole 1 modulo 97. */
function isLei(code: string): boolean {
  if (!/^[0-9A-Z]{18}\d{2}$/.test(code)) return false
  const digits = [...code].map(letter => Number.parseInt(letter, 36)).join('')
  return BigInt(digits) % 97n === 1n
}

/** European unique identifiers of business registers: country, register, and number. */
const isEuid = (code: string): boolean => /^[A-Z]{2}[0-9A-Z]*\.[0-9A-Za-z./_-]{1,60}$/.test(code)

const LEI = 'an LEI has 18 capital letters and digits and two check digits'
export const leiFormat: FieldFormat = z
  .string()
  .max(20)
  .refine(isLei, LEI)
  .meta({ examples: ['529900T8BM49AURSDO55'] })
export const leiOrEuidFormat: FieldFormat = z
  .string()
  .max(80)
  .refine(code => isLei(code) || isEuid(code), `${LEI}; an EUID is written as DEK1101R.HRB116737`)
  .meta({ examples: ['529900T8BM49AURSDO55'] })

/** `2026-11-22T09:30:05Z`, the format of the glossary. */
export const formatInstant = (at: Date | null): string | null => at && `${at.toISOString().slice(0, 19)}Z`

export const formatNumber = (value: number | null | undefined): string | null =>
  value === null || value === undefined ? null : String(value)

/** `13.3`: at most one decimal, unsigned. The form ends at 100, even for a day above average. */
export function formatShareEntry(part: number | null, whole: number | null): string | null {
  if (part === 0) return '0'
  if (part === null || !whole) return null
  return String(Math.min(100, Math.round((part * 1_000) / whole) / 10))
}

/** `42.5` for EUR 42,500: the forms count in thousands. */
export const formatThousands = (euros: number | null | undefined): string | null =>
  euros === null || euros === undefined ? null : String(Math.round(euros * 100) / 100_000)

export function formatDuration(minutes: number | null | undefined): string | null {
  if (minutes === null || minutes === undefined) return null
  const parts = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24, minutes % 60]
  return parts.map(part => String(part).padStart(2, '0')).join(':')
}

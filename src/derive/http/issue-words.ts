import { z } from 'zod'
import { containsCredential } from '../../kernel/database/credential.ts'
import { hasCardNumber } from '../../values/card-number.ts'
import { jsonName, withJsonNames } from '../../values/json-names.ts'

export interface ValidationIssue {
  readonly code?: string
  readonly message?: string
  readonly path?: readonly PropertyKey[]
  readonly input?: unknown
  readonly origin?: string
  readonly expected?: string
  readonly values?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly maximum?: number | bigint
  readonly minimum?: number | bigint
  readonly inclusive?: boolean
  readonly exact?: boolean
  readonly divisor?: number | bigint
  readonly keys?: readonly string[]
  readonly issues?: readonly ValidationIssue[]
  /** What each form of a union says. */
  readonly errors?: readonly (readonly ValidationIssue[])[]
}

const mustBe = (issue: object): string =>
  words[(issue as ValidationIssue).code ?? '']?.(issue) ?? 'has an invalid format'

const words: Readonly<Record<string, (issue: ValidationIssue) => string>> = {
  invalid_type: ({ expected = '' }) => `must be ${kinds[expected] ?? expected}`,
  invalid_value: ({ values = [] }) => `must be ${oneOf(values)}`,
  invalid_format: ({ format = '', pattern }) =>
    `must be ${formats[format] ?? `a string like ${pattern ?? format}`}`,
  too_big: ({ origin = '', maximum = 0, inclusive = true, exact = false }) =>
    origin in units
      ? `must have ${exact ? 'exactly' : 'at most'} ${counted(maximum, origin)}`
      : `must be ${inclusive ? 'at most' : 'less than'} ${grouped(maximum)}`,
  too_small: ({ origin = '', minimum = 0, inclusive = true, exact = false }) =>
    origin in units
      ? `must have ${exact ? 'exactly' : 'at least'} ${counted(minimum, origin)}`
      : `must be ${inclusive ? 'at least' : 'more than'} ${grouped(minimum)}`,
  not_multiple_of: ({ divisor }) => `must be a multiple of ${divisor}`,
  invalid_key: ({ issues }) => `its name ${issues?.[0]?.message}`,
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

const formats: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a URL',
  datetime: 'a timestamp like 2026-11-20T09:30:00.000Z',
  date: 'a date like 2026-11-20',
  base64: 'in Base64',
}

const units: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  object: 'field',
  record: 'field',
}

const grouped = (count: number | bigint): string => count.toLocaleString('en', { maximumFractionDigits: 20 })

const counted = (count: number | bigint, origin: string): string =>
  `${Number(count) === 0 ? 'no' : grouped(count)} ${units[origin]}${Number(count) === 1 ? '' : 's'}`

const LISTED = 12

function oneOf(values: readonly unknown[]): string {
  const listed = values.slice(0, LISTED).map(value => JSON.stringify(value))
  if (values.length > LISTED) return `one of ${listed.join(', ')} and ${values.length - LISTED} more`
  return listed.length > 1 ? `${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}` : String(listed[0])
}

const SHOWN = 40

/** The value is not what this form takes at all. */
const isOfOtherType = ({ code, path = [] }: ValidationIssue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')

/** The issues of the form that the value has the type of; of none, what each form takes. */
export function issuesOfForms(issue: ValidationIssue): readonly ValidationIssue[] {
  const { code, path = [], errors = [], input } = issue
  const meant = errors.find(form => form.length > 0 && !form.some(isOfOtherType)) ?? eachOf(errors)
  if (code !== 'invalid_union' || meant.length === 0) return [issue]
  return meant.map(one => ({ ...one, path: [...path, ...(one.path ?? [])], input: one.input ?? input }))
}

/** `must be "owners" or "approvers", or an array` */
function eachOf(forms: readonly (readonly ValidationIssue[])[]): readonly ValidationIssue[] {
  const others = forms.flat().filter(isOfOtherType)
  const taken = new Set(others.map(({ message = '' }) => message.replace(/^must be /, '')))
  return others.slice(0, 1).map(one => ({ ...one, message: `must be ${[...taken].join(', or ')}` }))
}

/** A check of several members at once (`custom`) says itself what is missing. */
export const isValueMissing = ({ code }: ValidationIssue): boolean =>
  code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_format'

/** For a member that must have one of several values: `: "single" or "multi"`. */
export const choicesText = ({ code, values = [] }: ValidationIssue): string =>
  code === 'invalid_value' ? `: ${oneOf(values)}` : ''

export function describeSentValue({ code, origin, input }: ValidationIssue): string | undefined {
  const measured = code === 'invalid_key' ? 'string' : code?.startsWith('too_') ? (origin ?? '') : ''
  if (measured in units) return `it has ${counted(sizeOf(input), measured)}`
  if (input === undefined) return code === 'custom' ? undefined : 'it is missing'
  if (typeof input === 'string') return describeText(input)
  if (typeof input === 'number' && !Number.isFinite(input)) return 'it is too large for a number'
  if (typeof input !== 'object' || input === null) return `it is ${input}`
  if (code === 'custom') return undefined
  return Array.isArray(input) ? 'it is an array' : 'it is an object'
}

/** Never repeats a credential or card number that was sent in the wrong member. */
function describeText(text: string): string {
  if (text === '') return 'it is empty'
  if (containsCredential(text) || hasCardNumber(text)) return 'the value looks like a secret and is not shown'
  return `it is ${JSON.stringify(cut(text))}`
}

const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text)

const sizeOf = (input: unknown): number =>
  typeof input === 'string' || Array.isArray(input) ? input.length : Object.keys(input as object).length

type Schema = z.core.$ZodTypes
type Path = readonly PropertyKey[]

export const zodMessageOptions = { error: mustBe, reportInput: true } as const

const issuesIn = (schema: z.core.$ZodType, value: unknown, at: Path): ValidationIssue[] =>
  (z.safeParse(schema, withJsonNames(schema, value), zodMessageOptions).error?.issues ?? []).map(issue => ({
    ...(issue as ValidationIssue),
    path: [...at, ...issue.path],
  }))

/**
 * Measures before anything is parsed: zod reads every item of a list before it checks its length, and a whole
 * text before its length. The items of a long list are read here, until there are enough problems.
 */
export class BoundedMeasure {
  readonly issues: ValidationIssue[] = []
  readonly #enough: number

  constructor(enough: number) {
    this.#enough = enough
  }

  take(schema: z.core.$ZodType, value: unknown, path: Path = []): void {
    if (value === undefined || value === null || this.issues.length >= this.#enough) return
    const { def } = (schema as Schema)._zod
    if (def.type === 'string') this.#takeText(schema, value, path)
    else if (def.type === 'array') this.#takeList(schema, def.element, value, path)
    else if (def.type === 'record') this.#takeRecord(schema, def.valueType, value, path)
    else if (def.type === 'object') this.#takeObject(def.shape, value, path)
    else if (def.type === 'union') this.#takeOnlyList(def.options, value, path)
    else if (def.type === 'pipe') this.take(isTransform(def.in) ? def.out : def.in, value, path)
    else if ('innerType' in def) this.take(def.innerType, value, path)
  }

  #takeText(schema: z.core.$ZodType, value: unknown, path: Path): void {
    if (typeof value === 'string') this.#fits(schema, 'string', value, value.length, path)
  }

  #takeList(schema: z.core.$ZodType, item: z.core.$ZodType, value: unknown, path: Path): void {
    if (!Array.isArray(value) || !this.#fits(schema, 'array', value, value.length, path)) return
    this.#takeItems(item, value.entries(), value.length, path)
  }

  /** A list can be meant as one form only. */
  #takeOnlyList(forms: readonly z.core.$ZodType[], value: unknown, path: Path): void {
    const [list, ...others] = forms.filter(form => (form as Schema)._zod.def.type === 'array')
    if (list && others.length === 0 && Array.isArray(value)) this.take(list, value, path)
  }

  #takeRecord(schema: z.core.$ZodType, item: z.core.$ZodType, value: unknown, path: Path): void {
    if (!isObject(value)) return
    const names = Object.keys(value)
    if (!this.#fits(schema, 'record', value, names.length, path)) return
    this.#takeItems(item, Object.entries(value), names.length, path)
  }

  #takeObject(shape: z.core.$ZodShape, value: unknown, path: Path): void {
    if (!isObject(value)) return
    for (const [name, member] of Object.entries(shape))
      this.take(member, value[jsonName(name)], [...path, name])
  }

  #takeItems(
    schema: z.core.$ZodType,
    items: Iterable<[PropertyKey, unknown]>,
    count: number,
    path: Path,
  ): void {
    for (const [key, item] of items) {
      const before = this.issues.length
      if (before >= this.#enough) return
      const place = [...path, key]
      this.take(schema, item, place)
      if (count > this.#enough && this.issues.length === before)
        this.issues.push(...issuesIn(schema, item, place))
    }
  }

  #fits(schema: z.core.$ZodType, origin: Origin, input: unknown, size: number, path: Path): boolean {
    const { maximum, words } = maximumOf(schema)
    if (size <= maximum) return true
    const issue = { code: 'too_big', origin, maximum, input, path }
    this.issues.push({ ...issue, message: words ?? mustBe(issue) })
    return false
  }
}

type Origin = 'string' | 'array' | 'record'

interface Maximum {
  readonly maximum: number
  readonly words: string | undefined
}

const maxima = new WeakMap<z.core.$ZodType, Maximum>()

function maximumOf(schema: z.core.$ZodType): Maximum {
  const known = maxima.get(schema) ?? readMaximum(schema)
  maxima.set(schema, known)
  return known
}

function readMaximum(schema: z.core.$ZodType): Maximum {
  const [maxLength] = ((schema as Schema)._zod.def.checks ?? []).flatMap(({ _zod: { def } }) =>
    isMaxLength(def) ? [def] : [],
  )
  const words = maxLength?.error?.({} as never)
  return {
    maximum:
      maxLength?.maximum ?? (z.globalRegistry.get(schema)?.maxProperties as number | undefined) ?? Infinity,
    words: typeof words === 'string' ? words : words?.message,
  }
}

const isMaxLength = (def: z.core.$ZodCheckDef): def is z.core.$ZodCheckMaxLengthDef =>
  def.check === 'max_length'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTransform = (schema: z.core.$ZodType): boolean => (schema as Schema)._zod.def.type === 'transform'

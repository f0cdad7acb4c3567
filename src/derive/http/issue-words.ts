import { hasCredential } from '../../kernel/database/credential.ts'
import { hasCardNumber } from '../../values/card-number.ts'

/** What zod says of a problem, whatever its kind. */
export interface Issue {
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
  /** What is wrong with the name of a member. */
  readonly issues?: readonly Issue[]
}

/** What a member must be. What came in its place is added by `whatCame`. */
export const mustBe = (issue: object): string =>
  words[(issue as Issue).code ?? '']?.(issue) ?? 'must have another form'

const words: Readonly<Record<string, (issue: Issue) => string>> = {
  invalid_type: ({ expected = '' }) => `must be ${kinds[expected] ?? expected}`,
  invalid_value: ({ values = [] }) => `must be ${oneOf(values)}`,
  invalid_format: ({ format = '', pattern }) =>
    `must be ${formats[format] ?? `a text like ${pattern ?? format}`}`,
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
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const formats: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a URL',
  datetime: 'an instant like 2026-11-20T09:30:00.000Z',
  date: 'a day like 2026-11-20',
  base64: 'in Base64',
}

/** Of what a text, a list or an object has too many or too few. */
const units: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  object: 'member',
  record: 'member',
}

const grouped = (count: number | bigint): string => count.toLocaleString('en', { maximumFractionDigits: 20 })

const counted = (count: number | bigint, origin: string): string =>
  `${Number(count) === 0 ? 'no' : grouped(count)} ${units[origin]}${Number(count) === 1 ? '' : 's'}`

/** So many values are listed. */
const LISTED = 12

function oneOf(values: readonly unknown[]): string {
  const listed = values.slice(0, LISTED).map(value => JSON.stringify(value))
  if (values.length > LISTED) return `one of ${listed.join(', ')} and ${values.length - LISTED} more`
  return listed.length > 1 ? `${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}` : String(listed[0])
}

/** So many letters of a text are shown. */
const SHOWN = 40

/** What came in place of what must be; nothing where that is said already or is the whole body. */
export function whatCame({ code, origin, input }: Issue): string | undefined {
  const measured = code === 'invalid_key' ? 'string' : code?.startsWith('too_') ? (origin ?? '') : ''
  if (measured in units) return `it has ${counted(sizeOf(input), measured)}`
  if (input === undefined) return code === 'custom' ? undefined : 'it is missing'
  if (typeof input === 'string') return textThatCame(input)
  if (typeof input === 'number' && !Number.isFinite(input)) return 'it is larger than a number can be'
  if (typeof input !== 'object' || input === null) return `it is ${input}`
  if (code === 'custom') return undefined
  return Array.isArray(input) ? 'it is a list' : 'it is an object'
}

/** A credential or a card's number that stands in the wrong member is not said again. */
function textThatCame(text: string): string {
  if (text === '') return 'it is empty'
  if (hasCredential(text) || hasCardNumber(text)) return 'what came looks like a secret and is not shown'
  return `it is ${JSON.stringify(cut(text))}`
}

const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text)

const sizeOf = (input: unknown): number =>
  typeof input === 'string' || Array.isArray(input) ? input.length : Object.keys(input as object).length

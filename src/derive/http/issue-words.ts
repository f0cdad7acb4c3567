import { hasCredential } from '../../kernel/database/credential.ts'
import { hasCardNumber } from '../../values/card-number.ts'

/** A problem as zod reports it, of any kind. */
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
  /** The problem of a member's name. */
  readonly issues?: readonly Issue[]
}

/** What a member must be. `whatCame` adds what was sent. */
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

/** The unit that a text, a list or an object has too many or too few of. */
const units: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  object: 'member',
  record: 'member',
}

const grouped = (count: number | bigint): string => count.toLocaleString('en', { maximumFractionDigits: 20 })

const counted = (count: number | bigint, origin: string): string =>
  `${Number(count) === 0 ? 'no' : grouped(count)} ${units[origin]}${Number(count) === 1 ? '' : 's'}`

/** How many allowed values a message lists. */
const LISTED = 12

function oneOf(values: readonly unknown[]): string {
  const listed = values.slice(0, LISTED).map(value => JSON.stringify(value))
  if (values.length > LISTED) return `one of ${listed.join(', ')} and ${values.length - LISTED} more`
  return listed.length > 1 ? `${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}` : String(listed[0])
}

/** How many characters of a text a message shows. */
const SHOWN = 40

/** What was sent instead; empty where the message says it already or it is the whole body. */
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

/** Never repeats a credential or card number that was sent in the wrong member. */
function textThatCame(text: string): string {
  if (text === '') return 'it is empty'
  if (hasCredential(text) || hasCardNumber(text)) return 'what came looks like a secret and is not shown'
  return `it is ${JSON.stringify(cut(text))}`
}

const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text)

const sizeOf = (input: unknown): number =>
  typeof input === 'string' || Array.isArray(input) ? input.length : Object.keys(input as object).length

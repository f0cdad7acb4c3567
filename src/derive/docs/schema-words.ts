import { referencedName } from '../openapi/example.ts'
import type { JsonSchema } from '../openapi/types.ts'

/** Names a type: `string`, `agent id`, `array of integers`, `instant or null`. */
export function describeType(schema: JsonSchema): string {
  const types = [schema.type ?? []].flat()
  const [first = 'any'] = types
  const words = kindOf(schema) ?? (first === 'array' ? arrayWords(schema) : first)
  return types.includes('null') && first !== 'null' ? `${words} or null` : words
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'instant',
  date: 'date',
  email: 'e-mail address',
  uri: 'URL',
}

/** The prefix of the ids that a string takes, which its example shows: `agent` or `wallet`. */
export function idPrefixOf({ format, contentEncoding, examples = [] }: JsonSchema): string | undefined {
  if (contentEncoding || format) return undefined
  return /^([a-z]+)_[0-9a-z]{26}$/.exec(String(examples[0]))?.[1]
}

/** The format of a string, or what its ids are of. */
function kindOf(schema: JsonSchema): string | undefined {
  const { format, contentEncoding } = schema
  if (contentEncoding) return 'file'
  if (format) return formats[format] ?? format
  const prefix = idPrefixOf(schema)
  return prefix && `${prefix} id`
}

const arrayWords = ({ items = {} }: JsonSchema): string => {
  const words = items.$ref ? referencedName(items.$ref).toLowerCase() : describeType(items)
  return `array of ${words === 'any' ? 'anything' : `${words}s`}`
}

export function describeConstraints(schema: JsonSchema): string[] {
  const { items, pattern, default: standard } = schema
  return [
    describeChoices(schema),
    !kindOf(schema) && lengthWords(schema),
    range(schema.minItems, schema.maxItems, 'item'),
    range(schema.minimum, schema.maximum),
    schema.exclusiveMinimum !== undefined && `more than ${figure(schema.exclusiveMinimum)}`,
    pattern && `pattern \`${pattern}\``,
    ...(items ? describeConstraints(items).map(words => `each ${words}`) : []),
    standard !== undefined && `default \`${JSON.stringify(standard)}\``,
  ].filter(words => typeof words === 'string' && words !== '') as string[]
}

export function describeChoices({ enum: values, const: only }: JsonSchema): string {
  const named = (values ?? (only === undefined ? [] : [only])).filter(value => value !== null)
  return `${named.length > 1 ? 'one of ' : ''}${named.map(value => `\`${value}\``).join(', ')}`
}

const lengthWords = ({ minLength, maxLength }: JsonSchema): string =>
  minLength === 1 && maxLength === undefined ? 'not empty' : range(minLength, maxLength, 'character')

function range(least: number | undefined, most = LARGE, unit = ''): string {
  if (most >= LARGE) return least === undefined ? '' : `at least ${counted(least, unit)}`
  return least === undefined ? `at most ${counted(most, unit)}` : `${figure(least)} to ${counted(most, unit)}`
}

const counted = (count: number, unit: string): string =>
  unit === '' ? figure(count) : `${figure(count)} ${unit}${count === 1 ? '' : 's'}`

/** Larger bounds are technical, not a rule of the business, and are not shown. */
const LARGE = 2_147_483_647

const figure = (count: number): string => count.toLocaleString('en')

import type { JsonSchema } from '../openapi/types.ts'

/** The type of a value in a word or two: `string`, `array of integers`, `instant or null`. */
export function typeWords(schema: JsonSchema): string {
  const types = [schema.type ?? []].flat()
  const [first = 'any'] = types
  const main = schema.format ? (formats[schema.format] ?? `${first} (${schema.format})`) : first
  const words = main === 'array' && schema.items ? `array of ${plural(typeWords(schema.items))}` : main
  return types.includes('null') && first !== 'null' ? `${words} or null` : words
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'instant',
  date: 'date',
  email: 'e-mail address',
  uri: 'URL',
}

const plural = (word: string): string =>
  word === 'any' ? 'anything' : word.includes(' ') ? word : `${word}s`

/** What a value must satisfy, each in a few words; literals in backquotes. */
export function constraintWords(schema: JsonSchema): string[] {
  const { items, pattern, default: standard } = schema
  return [
    ...choices(schema),
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'items'),
    range(schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum, ''),
    pattern && `like \`${pattern}\``,
    ...(items ? constraintWords(items).map(words => `each ${words}`) : []),
    standard !== undefined && `default \`${JSON.stringify(standard)}\``,
  ].filter(words => typeof words === 'string' && words !== '') as string[]
}

const choices = ({ enum: values, const: only }: JsonSchema): string[] => {
  const named = (values ?? (only === undefined ? [] : [only])).filter(value => value !== null)
  if (named.length === 0) return []
  return [`${named.length > 1 ? 'one of ' : ''}${named.map(value => `\`${value}\``).join(', ')}`]
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const suffix = unit && ` ${unit}`
  if (least !== undefined && most !== undefined && most < LARGE)
    return `${figure(least)} to ${figure(most)}${suffix}`
  if (most !== undefined && most < LARGE) return `at most ${figure(most)}${suffix}`
  return least === undefined ? '' : `at least ${figure(least)}${suffix}`
}

/** Bounds of the machine, not of the business. */
const LARGE = 2_147_483_647

const figure = (count: number): string => count.toLocaleString('en')

import type { Entry } from '../docs/book.ts'
import { jsonOf } from '../docs/book.ts'

/** The example of an operation as the command `agentpay` takes it; undefined where it sends files. */
export function agentpayOf(entry: Entry): string | undefined {
  const { content = {} } = entry.operation.requestBody ?? {}
  if (Object.keys(content).some(type => type !== 'application/json')) return undefined
  const [noun = '', verb = ''] = entry.key.split('.').map(inKebabCase)
  return ['agentpay', noun, verb, ...idsOf(entry), ...bodyOf(entry)].map(quoted).join(' ')
}

const inKebabCase = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

const idsOf = ({ parameters }: Entry): string[] =>
  parameters.filter(({ in: place }) => place === 'path').map(({ example }) => String(example))

/** Texts and numbers are typed one by one, everything else as JSON. */
function bodyOf({ operation }: Entry): string[] {
  const example = jsonOf(operation.requestBody ?? {})?.example
  if (example === undefined) return []
  const members = Object.entries(example as object)
  const isPlain = members.every(([name, value]) => !TAKEN.has(name) && isTyped(value))
  if (!isPlain) return ['--body', JSON.stringify(example)]
  return members.flatMap(([name, value]) => [`--${name}`, String(value)])
}

/** A text that begins with a hyphen would look like an option. */
const isTyped = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^[^-]/.test(value))

/** Members that are called like an option of the command. */
const TAKEN: ReadonlySet<string> = new Set([
  'all',
  'body',
  'file',
  'help',
  'json',
  'operator',
  'output',
  'profile',
])

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

import { MEMBER } from '../arguments/members.ts'
import { operationOptions } from '../arguments/options.ts'
import type { Command, Member, Shape } from '../table.ts'

/** The arguments that give the example of a contract, as a shell hands them over. */
export function exampleArguments({ params, query, body }: Command): string[] {
  const ids = params.map(({ example }) => example)
  const filters = query
    .filter(({ required }) => required)
    .flatMap(member => optionsFor(member.name, member.example ?? member.choices?.[0], member))
  const content = Object.entries((body?.example ?? {}) as Record<string, unknown>)
  const members = content.flatMap(([name, value]) => {
    const shape = body?.members.find(member => member.name === name) ?? { types: [], words: '' }
    return optionsFor(Object.hasOwn(operationOptions, name) ? MEMBER + name : name, value, shape)
  })
  return [...ids, ...filters, ...members]
}

/** The whole line of the example, to be pasted. */
export const exampleOf = (command: Command): string =>
  ['agentpay', command.noun, command.verb, ...exampleArguments(command).map(quoted)].join(' ')

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

function optionsFor(name: string, value: unknown, shape: Shape): string[] {
  if (value === undefined) return []
  if (shape.isFile) return [`--${name}`, `${name}.pdf`]
  if (Array.isArray(value)) return listOptions(name, value, shape)
  if (typeof value === 'object' && value !== null) return objectOptions(name, value, shape)
  if (value === true && isFlag(shape)) return [`--${name}`]
  if (value === false && isFlag(shape)) return [`--no-${name}`]
  return option(name, textOf(value, shape))
}

const isFlag = ({ types }: Shape): boolean => types.length === 1 && types[0] === 'boolean'

/** A value that begins with a hyphen would look like an option. */
const option = (name: string, text: string): string[] =>
  /^-/.test(text) ? [`--${name}=${text}`] : [`--${name}`, text]

/** Where anything may stand, a text that would be read as JSON is written as JSON. */
function textOf(value: unknown, { types }: Shape): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return types.length === 0 ? JSON.stringify(value) : value
}

function listOptions(name: string, items: readonly unknown[], { items: shape }: Shape): string[] {
  const isPlain = items.every(item => typeof item === 'string' && !/^\s*\[|,/.test(item))
  if (items.length === 0 || !shape || !isPlain) return [`--${name}`, JSON.stringify(items)]
  return items.flatMap(item => option(name, String(item)))
}

/** Members that the contract names are options of their own; those of free names are one JSON value. */
function objectOptions(name: string, value: object, { members }: Shape): string[] {
  const entries = Object.entries(value)
  const known = entries.map(
    ([inner, of]) => [inner, of, members?.find(member => member.name === inner)] as const,
  )
  if (entries.length === 0 || known.some(([, , member]) => !member))
    return [`--${name}`, JSON.stringify(value)]
  return known.flatMap(([inner, of, member]) => optionsFor(`${name}.${inner}`, of, member as Member))
}

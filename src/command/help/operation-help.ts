import { idMembers } from '../../derive/commands/table.ts'
import { MEMBER_PREFIX } from '../arguments/members.ts'
import { type CommandOptions, commonCommandOptions, operationCommandOptions } from '../arguments/options.ts'
import { optionsForIds, requiredIdsText } from '../arguments/positional-ids.ts'
import type { TerminalStyle } from '../output/terminal.ts'
import type { BodyMember, CommandDefinition, ValueShape } from '../table.ts'
import { formatDefinitionList, helpSection, optionRows, withoutBackticks, wrapText } from './layout.ts'

export function operationHelp(command: CommandDefinition, style: TerminalStyle): string {
  const { noun, verb, summary, description, params, query, body, refusals } = command
  const ids = requiredIdsText(command)
  return [
    `${style.bold(`agentpay ${noun} ${verb}`)}${ids && ` ${ids}`}${usageOf(command)}\n`,
    `\n${wrapText(withoutBackticks(`${summary}.`))}\n`,
    description ? `\n${wrapText(withoutBackticks(description))}\n` : '',
    `\n${wrapText(accessOf(command))}\n`,
    helpSection(
      'Ids',
      formatDefinitionList(
        params.map(param => [`<${param.name}>`, param.description]),
        style,
      ),
      style,
    ),
    helpSection(
      'Members',
      formatDefinitionList(memberRows([...query, ...(body?.members ?? [])]), style),
      style,
    ),
    helpSection('Options', formatDefinitionList(optionRows(optionsOf(command)), style), style),
    helpSection('Example', `  ${exampleCommand(command)}\n`, style),
    helpSection(
      'Refusals',
      formatDefinitionList(
        refusals.map(([code, status, message]) => [`${status} ${code}`, message]),
        style,
      ),
      style,
    ),
  ].join('')
}

const usageOf = ({ query, body }: CommandDefinition): string =>
  query.length > 0 || body ? ' [--member value]' : ''

const callerWords: Readonly<Record<string, string>> = {
  key: 'a key',
  agent: 'the token of an agent',
  merchant: 'a merchant',
  dash: 'the operator',
  console: 'people in the console',
  signed: 'the system that signs it',
  public: 'anybody',
}

function accessOf({ callers, scope, takesKey, isRepeatable }: CommandDefinition): string {
  const who = callers.map(caller => callerWords[caller] ?? caller).join(', ')
  const right = scope ? `, with the scope ${scope}` : ''
  const again = takesKey || isRepeatable ? ' It is retried automatically when the connection breaks.' : ''
  return `Open to ${who}${right}.${again}`
}

function optionsOf(command: CommandDefinition): CommandOptions {
  const { isList, body, callers, csv, takesKey, mayGoOn } = command
  const options = operationCommandOptions
  const { all, body: whole, operator, output, run, 'idempotency-key': key, 'no-wait': noWait } = options
  return {
    ...(isList ? { all } : {}),
    ...(body ? { body: whole } : {}),
    ...(callers.includes('dash') && callers.includes('key') ? { operator } : {}),
    ...(csv ? { csv: { ...options.csv, description: `Print CSV: ${csv}.` } } : {}),
    output,
    ...(callers.includes('key') || callers.includes('agent') ? { run } : {}),
    ...(takesKey ? { 'idempotency-key': key } : {}),
    ...(mayGoOn ? { 'no-wait': noWait } : {}),
    ...commonCommandOptions,
  }
}

function memberRows(members: readonly BodyMember[], before = ''): [string, string][] {
  return members.flatMap((member): [string, string][] => {
    const { name, words, required, description, limits = [], members: inner, values } = member
    const option = before + name
    const shown =
      before === '' && Object.hasOwn(operationCommandOptions, name) ? MEMBER_PREFIX + name : option
    const facts = [`${words}${required ? ', required' : ''}`, ...limits].join(' · ')
    const text = [description, `(${facts})`].filter(Boolean).join(' ')
    const free: [string, string][] = values && !inner ? [[`--${shown}.<name>`, 'One of them.']] : []
    return [[`--${shown}`, text], ...free, ...memberRows(inner ?? [], `${shown}.`)]
  })
}

export function exampleArguments(command: CommandDefinition): string[] {
  const { params, query, body } = command
  const positional = positionalExamples(command)
  const isPositional = (name: string) => positional.some(example => example.name === name)
  const ids = [...params.map(({ example }) => example), ...positional.map(({ value }) => value)]
  const filters = query
    .filter(({ name, required }) => required && !isPositional(name))
    .flatMap(member => optionsFor(member.name, member.example ?? member.choices?.[0], member))
  const content = Object.entries((body?.example ?? {}) as Record<string, unknown>)
  const members = content.flatMap(([name, value]) => {
    if (isPositional(name)) return []
    const shape = body?.members.find(member => member.name === name) ?? { types: [], words: '' }
    return optionsFor(
      Object.hasOwn(operationCommandOptions, name) ? MEMBER_PREFIX + name : name,
      value,
      shape,
    )
  })
  return [...ids, ...filters, ...members]
}

interface PositionalExample {
  readonly name: string
  readonly value: string
}

/** The ids of the example, written without their options, where they then still belong to the same members. */
function positionalExamples(command: CommandDefinition): PositionalExample[] {
  const example = (command.body?.example ?? {}) as Record<string, unknown>
  const filters = command.query.filter(({ required }) => required)
  const all = idMembers(command).flatMap(({ name, required }) => {
    const value = example[name] ?? filters.find(filter => filter.name === name)?.example
    return typeof value === 'string' ? [{ name, value, required }] : []
  })
  return isUnambiguous(command, all) ? all : all.filter(({ required }) => required)
}

const isUnambiguous = (command: CommandDefinition, examples: readonly PositionalExample[]): boolean =>
  optionsForIds(
    command,
    examples.map(({ value }) => value),
    new Set(),
  ).every(({ name }, index) => name === examples[index]?.name)

export const exampleCommand = (command: CommandDefinition): string =>
  ['agentpay', command.noun, command.verb, ...exampleArguments(command).map(quoted)].join(' ')

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

function optionsFor(name: string, value: unknown, shape: ValueShape): string[] {
  if (value === undefined) return []
  if (shape.isFile) return [`--${name}`, `${name}.pdf`]
  if (Array.isArray(value)) return listOptions(name, value, shape)
  if (typeof value === 'object' && value !== null) return objectOptions(name, value, shape)
  if (value === true && isFlag(shape)) return [`--${name}`]
  if (value === false && isFlag(shape)) return [`--no-${name}`]
  return option(name, textOf(value, shape))
}

const isFlag = ({ types }: ValueShape): boolean => types.length === 1 && types[0] === 'boolean'

/** A value that begins with a hyphen would look like an option. */
const option = (name: string, text: string): string[] =>
  /^-/.test(text) ? [`--${name}=${text}`] : [`--${name}`, text]

/** If the member accepts any type, a text that looks like JSON is written as JSON. */
function textOf(value: unknown, { types }: ValueShape): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return types.length === 0 ? JSON.stringify(value) : value
}

function listOptions(name: string, items: readonly unknown[], { items: shape }: ValueShape): string[] {
  const isPlain = items.every(item => typeof item === 'string' && !/^\s*\[|,/.test(item))
  if (items.length === 0 || !shape || !isPlain) return [`--${name}`, JSON.stringify(items)]
  return items.flatMap(item => option(name, String(item)))
}

/** Members that the contract names are options of their own; free names are one JSON value. */
function objectOptions(name: string, value: object, { members }: ValueShape): string[] {
  const entries = Object.entries(value)
  const known = entries.map(
    ([inner, of]) => [inner, of, members?.find(member => member.name === inner)] as const,
  )
  if (entries.length === 0 || known.some(([, , member]) => !member))
    return [`--${name}`, JSON.stringify(value)]
  return known.flatMap(([inner, of, member]) => optionsFor(`${name}.${inner}`, of, member as BodyMember))
}

import { MEMBER } from '../arguments/members.ts'
import { commonOptions, type Options, operationOptions } from '../arguments/options.ts'
import type { Style } from '../output/terminal.ts'
import type { Command, Member, Shape } from '../table.ts'
import { listed, optionRows, plainText, section, wrap } from './layout.ts'

export function operationHelp(command: Command, style: Style): string {
  const { noun, verb, summary, description, params, query, body, refusals } = command
  const ids = params.map(({ name }) => ` <${name}>`).join('')
  return [
    `${style.bold(`agentpay ${noun} ${verb}`)}${ids}${usageOf(command)}\n`,
    `\n${wrap(plainText(`${summary}.`))}\n`,
    description ? `\n${wrap(plainText(description))}\n` : '',
    `\n${wrap(accessOf(command))}\n`,
    section(
      'Ids',
      listed(
        params.map(param => [`<${param.name}>`, param.description]),
        style,
      ),
      style,
    ),
    section('Members', listed(memberRows([...query, ...(body?.members ?? [])]), style), style),
    section('Options', listed(optionRows(optionsOf(command)), style), style),
    section('Example', `  ${exampleOf(command)}\n`, style),
    section(
      'Refusals',
      listed(
        refusals.map(([code, status, message]) => [`${status} ${code}`, message]),
        style,
      ),
      style,
    ),
  ].join('')
}

const usageOf = ({ query, body }: Command): string => (query.length > 0 || body ? ' [--member value]' : '')

const callerWords: Readonly<Record<string, string>> = {
  key: 'a key',
  agent: 'the token of an agent',
  merchant: 'a merchant',
  dash: 'the operator',
  console: 'people in the console',
  signed: 'the system that signs it',
  public: 'anybody',
}

function accessOf({ callers, scope, takesKey, isRepeatable }: Command): string {
  const who = callers.map(caller => callerWords[caller] ?? caller).join(', ')
  const right = scope ? `, with the scope ${scope}` : ''
  const again = takesKey || isRepeatable ? ' It is retried automatically when the connection breaks.' : ''
  return `Open to ${who}${right}.${again}`
}

function optionsOf({ isList, body, callers, takesKey }: Command): Options {
  const { all, body: whole, operator, output, run, 'idempotency-key': key } = operationOptions
  return {
    ...(isList ? { all } : {}),
    ...(body ? { body: whole } : {}),
    ...(callers.includes('dash') && callers.includes('key') ? { operator } : {}),
    output,
    ...(callers.includes('key') || callers.includes('agent') ? { run } : {}),
    ...(takesKey ? { 'idempotency-key': key } : {}),
    ...commonOptions,
  }
}

function memberRows(members: readonly Member[], before = ''): [string, string][] {
  return members.flatMap((member): [string, string][] => {
    const { name, words, required, description, limits = [], members: inner, values } = member
    const option = before + name
    const shown = before === '' && Object.hasOwn(operationOptions, name) ? MEMBER + name : option
    const facts = [`${words}${required ? ', required' : ''}`, ...limits].join(' · ')
    const text = [description, `(${facts})`].filter(Boolean).join(' ')
    const free: [string, string][] = values && !inner ? [[`--${shown}.<name>`, 'One of them.']] : []
    return [[`--${shown}`, text], ...free, ...memberRows(inner ?? [], `${shown}.`)]
  })
}

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

/** If the member accepts any type, a text that looks like JSON is written as JSON. */
function textOf(value: unknown, { types }: Shape): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return types.length === 0 ? JSON.stringify(value) : value
}

function listOptions(name: string, items: readonly unknown[], { items: shape }: Shape): string[] {
  const isPlain = items.every(item => typeof item === 'string' && !/^\s*\[|,/.test(item))
  if (items.length === 0 || !shape || !isPlain) return [`--${name}`, JSON.stringify(items)]
  return items.flatMap(item => option(name, String(item)))
}

/** Members that the contract names are options of their own; free names are one JSON value. */
function objectOptions(name: string, value: object, { members }: Shape): string[] {
  const entries = Object.entries(value)
  const known = entries.map(
    ([inner, of]) => [inner, of, members?.find(member => member.name === inner)] as const,
  )
  if (entries.length === 0 || known.some(([, , member]) => !member))
    return [`--${name}`, JSON.stringify(value)]
  return known.flatMap(([inner, of, member]) => optionsFor(`${name}.${inner}`, of, member as Member))
}

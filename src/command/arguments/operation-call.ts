import type { CallInput } from '../../derive/call.ts'
import { usageError } from '../io.ts'
import type { Command } from '../table.ts'
import { findPlace, memberOptions, type Place, putAt } from './members.ts'
import { type Option, type Options, operationOptions } from './options.ts'
import { type FindOption, type Given, type OptionValues, readArguments, valuesOf } from './parse.ts'
import { readItems, readValue } from './values.ts'

/** What was typed for an operation: its input without a body that must be read first, and the command's own options. */
export interface OperationCall {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** The members that were given one by one; undefined if none was. */
  readonly members: Readonly<Record<string, unknown>> | undefined
  readonly options: OptionValues
}

export type Body = CallInput['body']

/** Reads the arguments of an operation's command; `extra` are the options of a command that does more with it. */
export function readCall(command: Command, args: readonly string[], extra: Options = {}): OperationCall {
  const own: Options = { ...operationOptions, ...extra }
  const { positionals, given } = readArguments(args, {
    find: finder(command, own),
    names: [...memberOptions(command), ...Object.keys(own)],
  })
  const options = valuesOf(given, own)
  const params = options.help ? {} : paramsOf(command, positionals)
  const parts = membersOf(command, given, own)
  return { params, query: parts.query, members: parts.hasBody ? parts.body : undefined, options }
}

/** A member that is called like an option of the command is written `--member.body`. */
const finder =
  (command: Command, own: Options): FindOption =>
  name => {
    if (Object.hasOwn(own, name)) return own[name]
    const place = findPlace(command, name)
    return place && { type: isFlag(place) ? 'boolean' : 'string' }
  }

const isFlag = ({ shape: { types } }: Place): boolean => types.length === 1 && types[0] === 'boolean'

function paramsOf({ noun, verb, params }: Command, positionals: readonly string[]): Record<string, string> {
  const names = params.map(({ name }) => `<${name}>`).join(' ')
  const lacking = params[positionals.length]
  if (lacking)
    throw usageError(`${noun} ${verb} wants ${names}. ${lacking.description} For example: ${lacking.example}`)
  const tooMany = positionals[params.length]
  if (tooMany !== undefined) throw usageError(`${noun} ${verb} takes ${names || 'no id'}, and no ${tooMany}`)
  const empty = positionals.findIndex(value => /^\.{0,2}$/.test(value))
  if (empty >= 0) throw usageError(`'${positionals[empty]}' names nothing.`)
  return Object.fromEntries(params.map(({ name }, index) => [name, positionals[index] ?? '']))
}

function membersOf(command: Command, given: readonly Given[], own: Record<string, Option>) {
  const parts = { query: {}, body: {}, hasBody: false }
  const places = new Map<string, Placed>()
  for (const { name, value } of given) {
    const place = Object.hasOwn(own, name) ? undefined : findPlace(command, name)
    if (!place) continue
    const id = JSON.stringify([place.part, ...place.path])
    places.set(id, { place, value: joined(name, value, place, places.get(id)) })
  }
  for (const { place, value } of places.values()) {
    putAt(parts[place.part], place.path, value)
    if (place.part === 'body') parts.hasBody = true
  }
  return parts
}

interface Placed {
  readonly place: Place
  readonly value: unknown
}

/** A list takes an option as often as it has items; anything else takes it once. */
function joined(name: string, value: Given['value'], { shape }: Place, before: Placed | undefined): unknown {
  const isList = shape.types.includes('array') && value !== 'null'
  if (before && !isList) throw usageError(`--${name} is given twice.`)
  if (typeof value === 'boolean') return value
  const read = isList ? readItems(value, shape) : readValue(value, shape)
  if ('problem' in read) throw usageError(`--${name} ${read.problem}`)
  return before && isList ? [...(before.value as unknown[]), ...(read.value as unknown[])] : read.value
}

/** What the contract requires and is not given; a body that was given whole is for the service to judge. */
export function refuseIncomplete(command: Command, { query, members }: OperationCall): void {
  const given = { ...query, ...members }
  const required = [
    ...command.query,
    ...(command.body?.required || members ? (command.body?.members ?? []) : []),
  ].filter(member => member.required && !Object.hasOwn(given, member.name))
  if (required.length === 0) return
  const names = required.map(({ name }) => `--${name}`).join(', ')
  throw usageError(
    `${command.noun} ${command.verb} wants ${names}. See: agentpay ${command.noun} ${command.verb} --help`,
  )
}

import { idMembers } from '../../derive/commands/table.ts'
import { didYouMeanText } from '../../values/nearest.ts'
import { usageError } from '../io.ts'
import type { BodyMember, CommandDefinition, ValueShape } from '../table.ts'
import { NamedFile } from './files.ts'
import { findMemberOption, type MemberOption, memberOptions, setMember } from './members.ts'
import { type CommandOption, type CommandOptions, operationCommandOptions } from './options.ts'
import {
  type FindOption,
  type OptionValues,
  optionValues,
  type ParsedOption,
  readArguments,
} from './parse.ts'
import { optionsForIds, pathIdText, requiredIdsText } from './positional-ids.ts'

export interface OperationCall {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly members: Readonly<Record<string, unknown>> | undefined
  readonly options: OptionValues
}

export function parseOperationCall(
  command: CommandDefinition,
  args: readonly string[],
  extra: CommandOptions = {},
): OperationCall {
  const own: CommandOptions = { ...operationCommandOptions, ...extra }
  const { positionals, given } = readArguments(args, {
    find: finder(command, own),
    names: [...memberOptions(command), ...Object.keys(own)],
    remedy: name => pathIdText(command, name),
  })
  const options = optionValues(given, own)
  const params = options.help ? {} : paramsOf(command, positionals)
  const typed = new Set(given.flatMap(({ name }) => String(findMemberOption(command, name)?.path[0] ?? '')))
  const more = options.help ? [] : optionsForIds(command, positionals.slice(command.params.length), typed)
  const parts = membersOf(command, [...given, ...more], own)
  return { params, query: parts.query, members: parts.hasBody ? parts.body : undefined, options }
}

/** A member with the same name as an option of the command is written `--member.body`. */
const finder =
  (command: CommandDefinition, own: CommandOptions): FindOption =>
  name => {
    if (Object.hasOwn(own, name)) return own[name]
    const place = findMemberOption(command, name)
    if (!place) return undefined
    const choices = choiceNames(place.shape.choices ?? place.shape.items?.choices ?? [])
    return {
      type: isFlag(place) ? 'boolean' : 'string',
      ...(choices.length > 0 && { choices: choicesText(choices) }),
    }
  }

const isFlag = ({ shape: { types } }: MemberOption): boolean => types.length === 1 && types[0] === 'boolean'

function paramsOf(command: CommandDefinition, positionals: readonly string[]): Record<string, string> {
  const { noun, verb, params } = command
  const lacking = params[positionals.length]
  if (lacking)
    throw usageError(
      `${noun} ${verb} needs ${requiredIdsText(command)}. ${lacking.description} For example: ${lacking.example}`,
    )
  const wrong = positionals.findIndex(value => /^(\.{0,2}$|[{[])/.test(value))
  if (wrong >= 0 && wrong < params.length)
    throw usageError(`'${positionals[wrong]}' is not an id. For example: ${params[wrong]?.example}`)
  return Object.fromEntries(params.map(({ name }, index) => [name, positionals[index] ?? '']))
}

function membersOf(
  command: CommandDefinition,
  given: readonly ParsedOption[],
  own: Record<string, CommandOption>,
) {
  const parts = { query: {}, body: {}, hasBody: false }
  const places = new Map<string, MemberValue>()
  for (const { name, value } of given) {
    const place = Object.hasOwn(own, name) ? undefined : findMemberOption(command, name)
    if (!place) continue
    const id = JSON.stringify([place.part, ...place.path])
    places.set(id, { place, value: joined(name, value, place, places.get(id)) })
  }
  for (const { place, value } of places.values()) {
    setMember(parts[place.part], place.path, value)
    if (place.part === 'body') parts.hasBody = true
  }
  return parts
}

interface MemberValue {
  readonly place: MemberOption
  readonly value: unknown
}

function joined(
  name: string,
  value: ParsedOption['value'],
  { shape }: MemberOption,
  before: MemberValue | undefined,
): unknown {
  const isList = shape.types.includes('array') && value !== 'null'
  if (before && !isList) throw usageError(`--${name} is given twice. Give it once.`)
  if (typeof value === 'boolean') return value
  const read = isList ? readItems(value, shape) : parseOptionValue(value, shape)
  if ('problem' in read) throw usageError(`--${name} ${read.problem}`)
  return before && isList ? [...(before.value as unknown[]), ...(read.value as unknown[])] : read.value
}

/** Checks required arguments. The service itself judges a body that was given whole. */
export function requireArguments(command: CommandDefinition, { query, members }: OperationCall): void {
  const given = { ...query, ...members }
  const required = [
    ...command.query,
    ...(command.body?.required || members ? (command.body?.members ?? []) : []),
  ].filter(member => member.required && !Object.hasOwn(given, member.name))
  if (required.length === 0) return
  const names = required.map(member => neededText(member, command)).join(', ')
  throw usageError(
    `${command.noun} ${command.verb} needs ${names}. See: agentpay ${command.noun} ${command.verb} --help`,
  )
}

function neededText({ name, choices, items }: BodyMember, command: CommandDefinition): string {
  if (idMembers(command).some(member => member.name === name)) return `<${name}>`
  const words = choiceNames(choices ?? items?.choices ?? [])
  return words.length === 0 ? `--${name}` : `--${name} (${choicesText(words)})`
}

const LISTED = 12

const choiceNames = (choices: readonly unknown[]): string[] =>
  choices.filter(choice => choice !== null).map(String)

const choicesText = (names: readonly string[]): string =>
  names.length > LISTED ? 'the values in the help' : names.join(', ')

type ParseResult = { readonly value: unknown } | { readonly problem: string }

const NUMBER = /^-?\d+(\.\d+)?$/

export function parseOptionValue(text: string, shape: ValueShape): ParseResult {
  const { types, choices, synonyms = {} } = shape
  const may = (type: string): boolean => types.includes(type)
  if (shape.isFile) return { value: new NamedFile(text) }
  if (types.length === 0) return anything(text)
  if (text === 'null' && may('null')) return { value: null }
  if (choices) return choiceOf(Object.hasOwn(synonyms, text) ? String(synonyms[text]) : text, choices)
  if ((text === 'true' || text === 'false') && may('boolean')) return { value: text === 'true' }
  if ((may('number') || may('integer')) && NUMBER.test(text)) return numberOf(text)
  if ((may('object') && /^\s*\{/.test(text)) || (may('array') && /^\s*\[/.test(text)))
    return jsonOf(text, may('string'))
  if (may('string')) return { value: text }
  return { problem: `does not take ${text}.${hintOf(text, types)} Its type is: ${shape.words}.` }
}

/** Three digits behind a comma may be thousands: `1.000` would be a thousandth of what was meant. */
const DECIMAL_COMMA = /^-?\d+,\d{1,2}$/

const hintOf = (text: string, types: readonly string[]): string =>
  types.includes('number') && DECIMAL_COMMA.test(text) ? ` Write ${text.replace(',', '.')}.` : ''

function anything(text: string): ParseResult {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { value: text }
  }
}

function choiceOf(text: string, choices: readonly unknown[]): ParseResult {
  const chosen = choices.find(choice => String(choice) === text)
  if (chosen !== undefined) return { value: chosen }
  const names = choiceNames(choices)
  return {
    problem: `does not take ${text}.${didYouMeanText(text, names)} Choose one of ${choicesText(names)}.`,
  }
}

/** Refuses a number that JSON cannot carry unchanged: it may be an amount. */
function numberOf(text: string): ParseResult {
  const value = Number(text)
  return isExact(text, value) ? { value } : { problem: `has too many digits: ${text}. Write at most 15.` }
}

const isExact = (text: string, value: number): boolean => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)0*(\d+?)(?:\.(\d*?)0*)?$/.exec(text) ?? []
  const written = `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
  return String(value) === written || value === 0 || (Number.isFinite(value) && digitsOf(text) <= 15)
}

const digitsOf = (text: string): number => text.replace(/[-.]/g, '').replace(/^0+/, '').length

function jsonOf(text: string, mayBeText: boolean): ParseResult {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return mayBeText ? { value: text } : { problem: `is not valid JSON: ${(error as Error).message}` }
  }
}

/** Whether commas separate the items of a list: not if items are free text. */
const hasPlainItems = ({ items }: ValueShape): boolean =>
  items?.choices !== undefined || items?.idOf !== undefined || /^(integer|number)$/.test(items?.words ?? '')

/** The items of one option: the value, its comma-separated parts, or those of a JSON array. */
function readItems(text: string, shape: ValueShape): ParseResult {
  if (/^\s*\[/.test(text)) return jsonOf(text, false)
  const items = shape.items ?? { types: [], words: 'anything' }
  const texts = hasPlainItems(shape) ? text.split(',').filter(part => part !== '') : [text]
  const read = texts.map(part => parseOptionValue(part, items))
  return read.find(one => 'problem' in one) ?? { value: read.map(one => ('value' in one ? one.value : null)) }
}

import { parseArgs } from 'node:util'
import { didYouMeanText } from '../../values/nearest.ts'
import { usageError } from '../io.ts'
import type { CommandOption, CommandOptions } from './options.ts'

export interface ParsedOption {
  readonly name: string
  readonly value: string | boolean
}

export interface ParsedArguments {
  readonly positionals: readonly string[]
  readonly given: readonly ParsedOption[]
}

interface FoundOption extends Pick<CommandOption, 'type' | 'short'> {
  /** The values that it takes, as a text. */
  readonly choices?: string
}

export type FindOption = (name: string) => FoundOption | undefined

interface Rules {
  readonly find: FindOption
  readonly names: readonly string[]
  /** What to write in place of an unknown option, if not a name like it. */
  readonly remedy?: (name: string) => string | undefined
}

/**
 * Discovers the option names from the arguments: records have free names, so a command can have any number of
 * options.
 */
export function readArguments(args: readonly string[], rules: Rules): ParsedArguments {
  const { tokens } = parseArgs({
    args: [...args],
    options: optionsIn(args, rules.find),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const given: ParsedOption[] = []
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind === 'option') given.push(parseOption(token, rules))
  }
  return { positionals, given }
}

function optionsIn(
  args: readonly string[],
  find: FindOption,
): Record<string, { type: 'string' | 'boolean'; short?: string }> {
  const typed = args.flatMap(arg => /^--([^=]+)/.exec(arg)?.[1] ?? [])
  const options = ['help', 'output', ...typed].flatMap(name => {
    const option = find(name)
    return option ? [[name, { type: option.type, ...(option.short ? { short: option.short } : {}) }]] : []
  })
  return Object.fromEntries(options)
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function parseOption({ name, rawName, value, inlineValue }: OptionToken, rules: Rules): ParsedOption {
  const { find } = rules
  const option = find(name)
  if (!option) return negated(name, find) ?? unknown(rawName, name, rules)
  if (option.type === 'boolean') return { name, value: booleanOf(rawName, value) }
  const needs = `${rawName} needs ${option.choices ? `one of ${option.choices}` : 'a value'}.`
  if (value === undefined) throw usageError(needs)
  if (!inlineValue && /^-[^\d]/.test(value))
    throw usageError(`${needs} If ${value} is the value, write ${rawName}=${value}`)
  return { name, value }
}

function negated(name: string, find: FindOption): ParsedOption | undefined {
  const positive = /^no-(.+)$/.exec(name)?.[1]
  return positive !== undefined && find(positive)?.type === 'boolean'
    ? { name: positive, value: false }
    : undefined
}

function unknown(rawName: string, name: string, { names, remedy }: Rules): never {
  const hint = remedy?.(name) ?? didYouMeanText(name, names).replace('mean ', 'mean --')
  throw usageError(`Unknown option ${rawName}.${hint}`)
}

function booleanOf(rawName: string, value: string | undefined): boolean {
  if (value === undefined || value === 'true') return true
  if (value === 'false') return false
  throw usageError(`${rawName} is neither true nor false: ${value}. Write ${rawName} or ${rawName}=false`)
}

/** The values of a command's own options: the last one counts, unless the option is repeatable. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

export function optionValues(given: readonly ParsedOption[], options: CommandOptions): OptionValues {
  const values: Record<string, string | boolean | string[]> = {}
  for (const { name, value } of given) {
    if (!Object.hasOwn(options, name)) continue
    const before = values[name]
    values[name] = options[name]?.multiple ? [...(Array.isArray(before) ? before : []), String(value)] : value
  }
  return values
}

import { didYouMeanText } from '../values/nearest.ts'
import { type CommandOptions, operationCommandOptions } from './arguments/options.ts'
import type { CustomCommand } from './context.ts'
import { usageError } from './io.ts'
import type { CommandTableFile } from './table.ts'

export interface CommandMatch {
  readonly noun: string | undefined
  readonly verb: string | undefined
  readonly own: CustomCommand | undefined
  readonly operation: string | undefined
  readonly rest: readonly string[]
}

interface Words {
  readonly words: readonly string[]
  readonly rest: readonly string[]
}

const commonOptions: CommandOptions = operationCommandOptions

function lengthOf(arg: string): number {
  const option = commonOptions[arg.replace(/^--?/, '')]
  return option?.type === 'string' ? 2 : 1
}

function firstWords(argv: readonly string[], most: number): Words {
  const words: string[] = []
  const rest: string[] = []
  let index = 0
  while (index < argv.length && words.length < most) {
    const arg = argv[index] ?? ''
    const length = arg.startsWith('-') ? lengthOf(arg) : 1
    if (arg.startsWith('-')) rest.push(...argv.slice(index, index + length))
    else words.push(arg)
    index += length
  }
  return { words, rest: [...rest, ...argv.slice(index)] }
}

export function findCommand(
  argv: readonly string[],
  table: CommandTableFile,
  customCommands: readonly CustomCommand[],
): CommandMatch {
  const [noun] = firstWords(argv, 1).words
  if (noun === undefined) return { noun, verb: undefined, own: undefined, operation: undefined, rest: argv }
  const single = customCommands.find(own => own.noun === undefined && own.name === noun)
  if (single)
    return { noun: undefined, verb: noun, own: single, operation: undefined, rest: firstWords(argv, 1).rest }
  return ofNoun(noun, firstWords(argv, 2), table, customCommands)
}

function ofNoun(
  noun: string,
  { words, rest }: Words,
  table: CommandTableFile,
  all: readonly CustomCommand[],
): CommandMatch {
  const own = all.filter(command => command.noun === noun)
  const verbs = table.nouns[noun]?.verbs ?? {}
  if (own.length === 0 && !Object.hasOwn(table.nouns, noun)) throw unknownNoun(noun, table, all)
  const verb = words[1]
  if (verb === undefined) return { noun, verb, own: undefined, operation: undefined, rest }
  const found = {
    own: own.find(({ name }) => name === verb),
    operation: Object.hasOwn(verbs, verb) ? verbs[verb] : undefined,
  }
  if (found.own || found.operation) return { noun, verb, ...found, rest }
  const names = [...Object.keys(verbs), ...own.map(({ name }) => name)]
  throw usageError(
    `${noun} has no command ${verb}.${didYouMeanText(verb, names)} See: agentpay ${noun} --help`,
  )
}

function unknownNoun(noun: string, table: CommandTableFile, all: readonly CustomCommand[]) {
  const names = [...Object.keys(table.nouns), ...all.map(command => command.noun ?? command.name)]
  return usageError(`There is no command ${noun}.${didYouMeanText(noun, names)} See: agentpay --help`)
}

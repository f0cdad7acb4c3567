import { findMemberOption, MEMBER_PREFIX, memberOptions } from '../arguments/members.ts'
import { type CommandOptions, commonCommandOptions, operationCommandOptions } from '../arguments/options.ts'
import type { CustomCommand } from '../context.ts'
import type { CommandDefinition, CommandTableFile, ValueShape } from '../table.ts'

export interface Completion {
  readonly word: string
  readonly about: string
}

interface CompletionSources {
  readonly table: CommandTableFile
  readonly customCommands: readonly CustomCommand[]
  readonly filesFrom: (start: string) => readonly string[]
}

/** Completes the last word, which may be empty. The program's name is not among the words. */
export function completeCommandLine(words: readonly string[], means: CompletionSources): Completion[] {
  const last = words.at(-1) ?? ''
  const typed = words.slice(0, -1)
  return candidates(typed, last, means).filter(({ word }) => word.startsWith(last))
}

function candidates(typed: readonly string[], last: string, means: CompletionSources): Completion[] {
  const [noun, verb, ...rest] = typed[0] === 'help' ? typed.slice(1) : typed
  if (noun === undefined) return firstWords(means)
  const single = means.customCommands.find(own => own.noun === undefined && own.name === noun)
  if (single) return optionsOf({ ...single.options, ...commonCommandOptions })
  if (verb === undefined) return verbsOf(noun, means)
  const own = means.customCommands.find(one => one.noun === noun && one.name === verb)
  const key = means.table.nouns[noun]?.verbs[verb]
  const command = key === undefined ? undefined : means.table.get(key)
  const values = valuesAfter({ command, own, means }, rest.at(-1) ?? '', last)
  if (values.length > 0) return values
  const options = { ...own?.options, ...(command ? operationCommandOptions : commonCommandOptions) }
  return last.startsWith('-') || last === ''
    ? [...(command ? membersOf(command) : []), ...optionsOf(options)]
    : []
}

function firstWords({ table, customCommands }: CompletionSources): Completion[] {
  const own = customCommands
    .filter(({ noun, isHidden }) => noun === undefined && !isHidden)
    .map(({ name, summary }) => ({ word: name, about: summary }))
  const nouns = Object.entries(table.nouns).map(([word, { about }]) => ({ word, about }))
  const foreign = customCommands.flatMap(({ noun }) =>
    noun === undefined || Object.hasOwn(table.nouns, noun) ? [] : [{ word: noun, about: '' }],
  )
  return unique([...own, { word: 'help', about: 'Show help' }, ...nouns, ...foreign])
}

function verbsOf(noun: string, { table, customCommands }: CompletionSources): Completion[] {
  const own = customCommands
    .filter(command => command.noun === noun)
    .map(({ name, summary }) => ({ word: name, about: summary }))
  const verbs = Object.entries(table.nouns[noun]?.verbs ?? {})
  return unique([...own, ...verbs.map(([word, key]) => ({ word, about: table.get(key).summary }))])
}

const optionsOf = (options: CommandOptions): Completion[] =>
  Object.entries(options).map(([name, { description }]) => ({ word: `--${name}`, about: description }))

const membersOf = (command: CommandDefinition): Completion[] =>
  memberOptions(command).map(name => ({
    word: `--${Object.hasOwn(operationCommandOptions, name) ? MEMBER_PREFIX : ''}${name}`,
    about: findMemberOption(command, name)?.shape.words ?? '',
  }))

interface Completing {
  readonly command: CommandDefinition | undefined
  readonly own: CustomCommand | undefined
  readonly means: CompletionSources
}

function valuesAfter(completing: Completing, before: string, last: string): Completion[] {
  const [, joined] = /^--([^=]+)=/.exec(last) ?? []
  if (joined !== undefined) {
    const typed = last.slice(joined.length + '--='.length)
    return valuesOf(completing, joined, typed).map(value => ({ ...value, word: `--${joined}=${value.word}` }))
  }
  return /^--[^=]+$/.test(before) ? valuesOf(completing, before.slice(2), last) : []
}

function valuesOf({ command, own, means }: Completing, option: string, typed: string): Completion[] {
  if (own?.options?.[option]?.isEvents) return eventsAfter(typed, means.table)
  if (!command) return []
  const isBody = option === 'body' && Object.hasOwn(operationCommandOptions, option)
  if (isBody) return typed.startsWith('@') ? filesAfter('@', typed, means) : []
  const shape = findMemberOption(command, option)?.shape
  if (shape?.isFile) return filesAfter('', typed, means)
  if (shape && /^(member\.)?events?$/.test(option)) return eventsAfter(typed, means.table)
  return shape ? choicesOf(shape) : []
}

const choicesOf = ({ choices, items }: ValueShape): Completion[] =>
  (choices ?? items?.choices ?? [])
    .filter(choice => choice !== null)
    .map(choice => ({ word: String(choice), about: '' }))

function eventsAfter(typed: string, { eventNames }: CommandTableFile): Completion[] {
  const before = typed.slice(0, typed.lastIndexOf(',') + 1)
  return Object.entries(eventNames).map(([name, about]) => ({ word: before + name, about }))
}

const filesAfter = (sign: string, typed: string, { filesFrom }: CompletionSources): Completion[] =>
  filesFrom(typed.slice(sign.length)).map(name => ({ word: sign + name, about: '' }))

const unique = (completions: readonly Completion[]): Completion[] => [
  ...new Map(completions.map(completion => [completion.word, completion])).values(),
]

/** bash splits words at colons and equals signs: this joins them again. */
export function joinShellWords(pieces: readonly string[]): string[] {
  const words: string[] = []
  let isOpen = false
  for (const piece of pieces) {
    const isBreak = /^[:=]+$/.test(piece)
    if (words.length > 0 && (isBreak || isOpen)) words[words.length - 1] += piece
    else words.push(piece)
    isOpen = isBreak
  }
  return words
}

/** bash replaces only the last piece, so each answer omits the part of the word before it. */
export const lastShellWordPart = (word: string, typed: string): string =>
  word.slice(Math.max(typed.lastIndexOf(':'), typed.lastIndexOf('=')) + 1)

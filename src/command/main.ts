import { escapeLine } from '../values/terminal-text.ts'
import { type CommandOptions, commonCommandOptions } from './arguments/options.ts'
import type { CommandRuntime, CustomCommand } from './context.ts'
import { customCommands } from './custom/custom-commands.ts'
import { type CommandMatch, findCommand } from './find-command.ts'
import { CommandFailure, type CommandIo, type ExitCode, exitCodes, usageError } from './io.ts'
import { terminalStyle } from './output/terminal.ts'
import { readCommandDefinitions } from './table.ts'

/** Runs one command line and returns its exit code: 0 done, 1 refused, 2 usage, 3 not signed in, 4 unreachable. */
export async function runAgentpay(
  argv: readonly string[],
  io: CommandIo,
  table = readCommandDefinitions(),
): Promise<ExitCode> {
  try {
    return await runFound(argv, { io, table, customCommands })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    const { message, code, exitCode } = error
    const { red, dim } = terminalStyle(io.stderr, io.env)
    const suffix = code === undefined ? '' : ` ${dim(`(${escapeLine(code)})`)}`
    io.stderr.write(`${red(escapeLine(message))}${suffix}\n`)
    return exitCode
  }
}

const asksForHelp = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  return options.includes('--help') || options.includes('-h')
}

async function runFound(argv: readonly string[], means: CommandRuntime): Promise<ExitCode> {
  if (argv[0] === '--version') return runFound(['version', ...argv.slice(1)], means)
  const isHelp = argv[0] === 'help'
  const found = findCommand(isHelp ? argv.slice(1) : argv, means.table, customCommands)
  const isComplete = found.own !== undefined || found.operation !== undefined
  if (isHelp || !isComplete || asksForHelp(found.rest)) {
    const { printHelp } = await import('./help/help.ts')
    await printHelp(found, means)
    return isHelp || asksForHelp(argv) || argv.length === 0 ? exitCodes.done : exitCodes.usage
  }
  const code = found.own && (await runOwn(found.own, found, means))
  return code ?? runTableCommand(found, means)
}

async function runOwn(
  own: CustomCommand,
  { rest, operation }: CommandMatch,
  means: CommandRuntime,
): Promise<ExitCode | undefined> {
  const { createCommandContext: openContext } = await import('./context.ts')
  if (operation !== undefined && !own.hasOwnArguments) {
    const { parseOperationCall: readCall } = await import('./arguments/operation-call.ts')
    const { params, options } = readCall(means.table.get(operation), rest, own.options)
    return own.run(openContext({ ...means, arguments: Object.values(params), options }))
  }
  const options: CommandOptions = { ...commonCommandOptions, ...own.options }
  const { readArguments, optionValues: valuesOf } = await import('./arguments/parse.ts')
  const { positionals, given } = readArguments(rest, {
    find: name => (Object.hasOwn(options, name) ? options[name] : undefined),
    names: Object.keys(options),
  })
  refuseArguments(own, positionals)
  return own.run(openContext({ ...means, arguments: positionals, options: valuesOf(given, options) }))
}

function refuseArguments(
  { noun, name, arguments: declared = {} }: CustomCommand,
  positionals: readonly string[],
): void {
  const names = Object.keys(declared)
  const command = [noun, name].filter(Boolean).join(' ')
  const lacking = names.slice(positionals.length).find(argument => argument.startsWith('<'))
  if (lacking) throw usageError(`${command} needs ${lacking}: ${declared[lacking]}`)
  if (positionals.length > names.length && !names.at(-1)?.includes('...'))
    throw usageError(
      `${command} takes ${names.join(' ') || 'no arguments'}, and no ${positionals[names.length]}`,
    )
}

async function runTableCommand(
  { operation = '', own, rest }: CommandMatch,
  means: CommandRuntime,
): Promise<ExitCode> {
  const { parseOperationCall: readCall } = await import('./arguments/operation-call.ts')
  const { createCommandContext: openContext } = await import('./context.ts')
  const { runOperation } = await import('./run-operation.ts')
  const typed = readCall(means.table.get(operation), rest, own?.options)
  const context = openContext({
    ...means,
    arguments: Object.values(typed.params),
    options: typed.options,
  })
  try {
    return await runOperation(operation, typed, context, own)
  } catch (error) {
    const code = error instanceof CommandFailure ? await own?.refused?.(error, context) : undefined
    if (code === undefined) throw error
    return code
  }
}

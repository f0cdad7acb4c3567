import type { CommandRuntime } from '../context.ts'
import type { CommandMatch } from '../find-command.ts'
import { type TerminalStyle, terminalStyle } from '../output/terminal.ts'

/**
 * Prints the help for everything, for a noun or for a command. Only that part is loaded, so the help appears
 * at once.
 */
export async function printHelp(found: CommandMatch, means: CommandRuntime): Promise<void> {
  const { stdout, env } = means.io
  stdout.write(await helpFor(found, means, terminalStyle(stdout, env)))
}

async function helpFor(
  { noun, own, operation }: CommandMatch,
  { table, customCommands }: CommandRuntime,
  style: TerminalStyle,
): Promise<string> {
  if (own || operation) {
    const ownText = own && (await import('./custom-help.ts')).customHelp(own, style)
    const operationText =
      operation && (await import('./operation-help.ts')).operationHelp(table.get(operation), style)
    return [ownText, operationText].filter(Boolean).join('\n')
  }
  return noun === undefined
    ? (await import('./overview.ts')).commandOverview(table, customCommands, style)
    : (await import('./noun-help.ts')).nounHelp(noun, table, customCommands, style)
}

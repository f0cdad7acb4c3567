import type { Means } from '../context.ts'
import type { Found } from '../find-command.ts'
import { lookOf } from '../output/print.ts'
import { nounHelp } from './noun-help.ts'
import { operationHelp } from './operation-help.ts'
import { overview } from './overview.ts'
import { ownHelp } from './own-help.ts'

/** Prints the help for all, for a noun or for a command. */
export function printHelp({ noun, own, operation }: Found, { table, ownCommands, io }: Means): void {
  const { style } = lookOf(io)
  const texts =
    own || operation
      ? [own && ownHelp(own, style), operation && operationHelp(table.get(operation), style)]
      : [noun === undefined ? overview(table, ownCommands, style) : nounHelp(noun, table, ownCommands, style)]
  io.stdout.write(texts.filter(Boolean).join('\n'))
}

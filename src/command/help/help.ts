import type { OwnCommand } from '../context.ts'
import type { Found } from '../find-command.ts'
import type { Io } from '../io.ts'
import { lookOf } from '../output/print.ts'
import type { Table } from '../table.ts'
import { nounHelp } from './noun-help.ts'
import { operationHelp } from './operation-help.ts'
import { overview } from './overview.ts'
import { ownHelp } from './own-help.ts'

export interface HelpMeans {
  readonly table: Table
  readonly ownCommands: readonly OwnCommand[]
  readonly io: Io
}

/** Prints the help for all, for a noun or for a command. */
export function printHelp({ noun, own, operation }: Found, { table, ownCommands, io }: HelpMeans): void {
  const { style } = lookOf(io)
  const texts =
    own || operation
      ? [own && ownHelp(own, style), operation && operationHelp(table.get(operation), style)]
      : [noun === undefined ? overview(table, ownCommands, style) : nounHelp(noun, table, ownCommands, style)]
  io.stdout.write(texts.filter(Boolean).join('\n'))
}

import { requiredIdsText } from '../arguments/positional-ids.ts'
import type { CustomCommand } from '../context.ts'
import type { TerminalStyle } from '../output/terminal.ts'
import type { CommandTableFile } from '../table.ts'
import { formatDefinitionList, helpSection, withoutBackticks, wrapText } from './layout.ts'

export function nounHelp(
  noun: string,
  table: CommandTableFile,
  customCommands: readonly CustomCommand[],
  style: TerminalStyle,
): string {
  const { about = '', verbs = {} } = table.nouns[noun] ?? {}
  const own = customCommands.filter(command => command.noun === noun)
  const hidden = new Set(own.map(({ name }) => name))
  const rows = [
    ...own.map((command): [string, string] => [
      wordsOf(command.name, Object.keys(command.arguments ?? {})),
      command.summary,
    ]),
    ...Object.entries(verbs)
      .filter(([verb]) => !hidden.has(verb))
      .map(([verb, key]): [string, string] => {
        const command = table.get(key)
        return [wordsOf(verb, [requiredIdsText(command)]), command.summary]
      }),
  ]
  return [
    `${style.bold(`agentpay ${noun}`)} <verb> [ids] [--member value]\n`,
    about === '' ? '' : `\n${wrapText(withoutBackticks(about))}\n`,
    helpSection('Commands', formatDefinitionList(rows, style), style),
    `\nagentpay help ${noun} <verb> shows one with its members.\n`,
  ].join('')
}

const wordsOf = (verb: string, args: readonly string[]): string => [verb, ...args].filter(Boolean).join(' ')

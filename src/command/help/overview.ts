import { commonCommandOptions } from '../arguments/options.ts'
import type { CustomCommand } from '../context.ts'
import type { TerminalStyle } from '../output/terminal.ts'
import type { CommandTableFile } from '../table.ts'
import { formatDefinitionList, helpSection, optionRows } from './layout.ts'

export function commandOverview(
  table: CommandTableFile,
  customCommands: readonly CustomCommand[],
  style: TerminalStyle,
): string {
  const own = customCommands.filter(
    ({ noun, isHidden }) => !isHidden && (noun === undefined || !Object.hasOwn(table.nouns, noun)),
  )
  const nouns = Object.entries(table.nouns).map(([noun, { about }]): [string, string] => [noun, about])
  return [
    `${style.bold('agentpay')} <noun> <verb> [ids] [--member value]\n`,
    '\nPayments for autonomous agents, on the command line. Each operation of the service is a command.\n',
    helpSection(
      'Further commands',
      formatDefinitionList(
        own.map(({ noun, name, summary }) => [noun ? `${noun} ${name}` : name, summary]),
        style,
      ),
      style,
    ),
    helpSection('Nouns', formatDefinitionList(nouns, style), style),
    helpSection('Common options', formatDefinitionList(optionRows(commonCommandOptions), style), style),
    helpSection('Environment', formatDefinitionList(ENVIRONMENT, style), style),
    helpSection('Exit codes', formatDefinitionList(EXIT_CODES, style), style),
    '\nagentpay help <noun> lists the commands of a noun, agentpay help <noun> <verb> shows one with its members.\n',
  ].join('')
}

const ENVIRONMENT: [string, string][] = [
  ['AGENTPAY_URL', 'The address of the service.'],
  ['AGENTPAY_KEY', 'A key, or the token of an agent.'],
  ['AGENTPAY_DASHBOARD_SECRET', 'The dashboard secret, for operator commands.'],
  ['NO_COLOR', 'Any value disables colours.'],
]

const EXIT_CODES: [string, string][] = [
  ['0', 'done'],
  ['1', 'refused; the message explains why, with a code for programs'],
  ['2', 'invalid usage; nothing was sent'],
  ['3', 'not signed in, or the key is not valid'],
  ['4', 'the service cannot be reached'],
]

import { commonOptions } from '../arguments/options.ts'
import type { CustomCommand } from '../context.ts'
import type { Style } from '../output/terminal.ts'
import type { Table } from '../table.ts'
import { listed, optionRows, section } from './layout.ts'

export function overview(table: Table, customCommands: readonly CustomCommand[], style: Style): string {
  const own = customCommands.filter(
    ({ noun, isHidden }) => !isHidden && (noun === undefined || !Object.hasOwn(table.nouns, noun)),
  )
  const nouns = Object.entries(table.nouns).map(([noun, { about }]): [string, string] => [noun, about])
  return [
    `${style.bold('agentpay')} <noun> <verb> [ids] [--member value]\n`,
    '\nPayments for autonomous agents, from the command line. Each operation of the service is a command.\n',
    section(
      'Commands of its own',
      listed(
        own.map(({ noun, name, summary }) => [noun ? `${noun} ${name}` : name, summary]),
        style,
      ),
      style,
    ),
    section('Nouns', listed(nouns, style), style),
    section('Options of each command', listed(optionRows(commonOptions), style), style),
    section('Environment', listed(ENVIRONMENT, style), style),
    section('Exit codes', listed(EXIT_CODES, style), style),
    '\nagentpay help <noun> lists the commands of a noun, agentpay help <noun> <verb> shows one with its members.\n',
  ].join('')
}

const ENVIRONMENT: [string, string][] = [
  ['AGENTPAY_URL', 'The address of the service.'],
  ['AGENTPAY_KEY', 'A key, or the token of an agent.'],
  [
    'AGENTPAY_DASHBOARD_SECRET',
    'The secret of whoever runs the installation, for the commands of the operator.',
  ],
  ['NO_COLOR', 'Set to anything: no colour.'],
]

const EXIT_CODES: [string, string][] = [
  ['0', 'done'],
  ['1', 'refused; the sentence says why, and the code after it is for programs'],
  ['2', 'not understood; nothing was sent'],
  ['3', 'not signed in, or with a key that is not valid'],
  ['4', 'the service cannot be reached'],
]

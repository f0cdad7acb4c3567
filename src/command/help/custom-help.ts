import { commonCommandOptions } from '../arguments/options.ts'
import type { CustomCommand } from '../context.ts'
import type { TerminalStyle } from '../output/terminal.ts'
import { formatDefinitionList, helpSection, optionRows, withoutBackticks, wrapText } from './layout.ts'

export function customHelp(own: CustomCommand, style: TerminalStyle): string {
  const { noun, name, summary, description, arguments: args = {}, options = {}, examples = [] } = own
  const usage = ['agentpay', noun, name].filter(Boolean).join(' ')
  return [
    `${style.bold(usage)}${Object.keys(args)
      .map(argument => ` ${argument}`)
      .join('')} [options]\n`,
    `\n${wrapText(withoutBackticks(`${summary}.`))}\n`,
    description ? `\n${wrapText(withoutBackticks(description))}\n` : '',
    helpSection('Arguments', formatDefinitionList(Object.entries(args), style), style),
    helpSection(
      'Options',
      formatDefinitionList(optionRows({ ...options, ...commonCommandOptions }), style),
      style,
    ),
    helpSection('Examples', examples.map(example => `  ${example}\n`).join(''), style),
  ].join('')
}

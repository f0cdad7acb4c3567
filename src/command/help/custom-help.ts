import { commonOptions } from '../arguments/options.ts'
import type { CustomCommand } from '../context.ts'
import type { Style } from '../output/terminal.ts'
import { listed, optionRows, plainText, section, wrap } from './layout.ts'

export function customHelp(own: CustomCommand, style: Style): string {
  const { noun, name, summary, description, arguments: args = {}, options = {}, examples = [] } = own
  const usage = ['agentpay', noun, name].filter(Boolean).join(' ')
  return [
    `${style.bold(usage)}${Object.keys(args)
      .map(argument => ` ${argument}`)
      .join('')} [options]\n`,
    `\n${wrap(plainText(`${summary}.`))}\n`,
    description ? `\n${wrap(plainText(description))}\n` : '',
    section('Arguments', listed(Object.entries(args), style), style),
    section('Options', listed(optionRows({ ...options, ...commonOptions }), style), style),
    section('Examples', examples.map(example => `  ${example}\n`).join(''), style),
  ].join('')
}

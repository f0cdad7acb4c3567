import type { CommandOption, CommandOptions } from '../arguments/options.ts'
import { displayWidth, padToWidth, type TerminalStyle } from '../output/terminal.ts'

/** The width of the help: narrow enough to read, and for any terminal. */
const WIDTH = 96

export const withoutBackticks = (text: string): string => text.replaceAll('`', '')

export function wrapText(text: string, indent = 0, width = WIDTH): string {
  return text
    .split('\n')
    .flatMap(paragraph => linesOf(paragraph, width - indent))
    .map(line => (line === '' ? '' : `${' '.repeat(indent)}${line}`))
    .join('\n')
}

function linesOf(paragraph: string, width: number): string[] {
  const lines = ['']
  for (const word of paragraph.split(' ')) {
    const last = lines.at(-1) ?? ''
    const joined = last === '' ? word : `${last} ${word}`
    if (displayWidth(joined) <= width || last === '') lines[lines.length - 1] = joined
    else lines.push(word)
  }
  return lines
}

export function formatDefinitionList(
  rows: readonly (readonly [name: string, words: string])[],
  style: TerminalStyle,
): string {
  const width = Math.min(30, Math.max(0, ...rows.map(([name]) => displayWidth(name))))
  return rows
    .map(([name, words]) => {
      const text = wrapText(withoutBackticks(words), 0, WIDTH - width - 4).replaceAll(
        '\n',
        `\n${' '.repeat(width + 4)}`,
      )
      const gap = displayWidth(name) > width ? `\n${' '.repeat(width + 4)}` : '  '
      return `  ${style.bold(padToWidth(name, width))}${gap}${text}\n`
    })
    .join('')
}

export const helpSection = (title: string, content: string, style: TerminalStyle): string =>
  content === '' ? '' : `\n${style.bold(title)}\n${content}`

export const optionRows = (options: CommandOptions): [string, string][] =>
  Object.entries(options).map(([name, { short, value, description }]: [string, CommandOption]) => [
    `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`,
    description,
  ])

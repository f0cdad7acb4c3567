import type { Option, Options } from '../arguments/options.ts'
import { padded, type Style, widthOf } from '../output/terminal.ts'

/** The width of the help: narrow enough to read, and for any terminal. */
const WIDTH = 96

export const plainText = (text: string): string => text.replaceAll('`', '')

export function wrap(text: string, indent = 0, width = WIDTH): string {
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
    if (widthOf(joined) <= width || last === '') lines[lines.length - 1] = joined
    else lines.push(word)
  }
  return lines
}

export function listed(rows: readonly (readonly [name: string, words: string])[], style: Style): string {
  const width = Math.min(30, Math.max(0, ...rows.map(([name]) => widthOf(name))))
  return rows
    .map(([name, words]) => {
      const text = wrap(plainText(words), 0, WIDTH - width - 4).replaceAll('\n', `\n${' '.repeat(width + 4)}`)
      const gap = widthOf(name) > width ? `\n${' '.repeat(width + 4)}` : '  '
      return `  ${style.bold(padded(name, width))}${gap}${text}\n`
    })
    .join('')
}

export const section = (title: string, content: string, style: Style): string =>
  content === '' ? '' : `\n${style.bold(title)}\n${content}`

export const optionRows = (options: Options): [string, string][] =>
  Object.entries(options).map(([name, { short, value, description }]: [string, Option]) => [
    `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`,
    description,
  ])

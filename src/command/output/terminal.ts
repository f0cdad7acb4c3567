import { escapeCharacter, UNSAFE_IN_TERMINAL } from '../../values/terminal-text.ts'
import type { CommandIo, OutputStream } from '../io.ts'

export const escapeText = (text: string): string =>
  text
    .replace(/\r\n/g, '\n')
    .replace(UNSAFE_IN_TERMINAL, character =>
      /[\n\t]/.test(character) ? character : escapeCharacter(character),
    )

/** JSON with interpreted characters escaped as JSON allows, so the value stays the same. */
export const escapedJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? 'null').replace(UNSAFE_IN_TERMINAL, character =>
    character === '\n' ? character : surrogates(character),
  )

export const escapedJsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(UNSAFE_IN_TERMINAL, surrogates)

const surrogates = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

export interface TerminalStyle {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
}

const plain: TerminalStyle = { bold: text => text, dim: text => text, red: text => text }

const code =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`

const coloured: TerminalStyle = { bold: code(1, 22), dim: code(2, 22), red: code(31, 39) }

/** No colour outside a terminal, with `NO_COLOR`, or in a terminal without colours. */
export const terminalStyle = (
  { isTTY }: OutputStream,
  { NO_COLOR, TERM }: CommandIo['env'],
): TerminalStyle => (isTTY === true && !NO_COLOR && TERM !== 'dumb' ? coloured : plain)

const PLAIN = /^[\x20-\x7e]*$/
/** Combining marks, joiners and variation selectors have no width of their own. */
const NARROWEST = /^(\p{M}|[\u200b\u200c]|\u200d|[\ufe00-\ufe0f])$/u
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u

const widthOfCharacter = (character: string): number =>
  NARROWEST.test(character) ? 0 : WIDE.test(character) ? 2 : 1

export const displayWidth = (text: string): number =>
  PLAIN.test(text) ? text.length : [...text].reduce((sum, character) => sum + widthOfCharacter(character), 0)

export function truncateToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  let [cut, width] = ['', 0]
  for (const character of text) {
    width += widthOfCharacter(character)
    if (width > columns - 1) break
    cut += character
  }
  return `${cut}…`
}

export const padToWidth = (text: string, columns: number, isRight = false): string => {
  const gap = ' '.repeat(Math.max(0, columns - displayWidth(text)))
  return isRight ? gap + text : text + gap
}

import type { Io, Output } from '../io.ts'

export interface Style {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
}

const plain: Style = { bold: text => text, dim: text => text, red: text => text }

const code =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`

const coloured: Style = { bold: code(1, 22), dim: code(2, 22), red: code(31, 39) }

/** No colour where there is no terminal, where `NO_COLOR` is set, and where the terminal can show none. */
export const styleFor = ({ isTTY }: Output, { NO_COLOR, TERM }: Io['env']): Style =>
  isTTY === true && !NO_COLOR && TERM !== 'dumb' ? coloured : plain

import { isRecord } from '../../values/members.ts'
import { escapeLine } from '../../values/terminal-text.ts'
import type { CommandIo } from '../io.ts'
import { formatRecord, formatTable, type TableOptions } from './tables.ts'
import { escapedJson, terminalStyle } from './terminal.ts'

export interface PrintOptions {
  readonly io: CommandIo
  readonly asJson: boolean
}

/** People get tables and pipes get JSON, unless an option chooses. */
export const printsJson = (
  { stdout }: CommandIo,
  { json, table }: { json?: unknown; table?: unknown },
): boolean => json === true || (table !== true && stdout.isTTY !== true)

export function tableOptionsFor({ stdout, env }: CommandIo): TableOptions {
  return { style: terminalStyle(stdout, env), columns: stdout.isTTY ? stdout.columns || 80 : undefined }
}

export function printValue(value: unknown, { io, asJson }: PrintOptions): void {
  if (value === undefined) return
  if (asJson) return void io.stdout.write(`${escapedJson(value)}\n`)
  io.stdout.write(textFor(value, tableOptionsFor(io)))
  if (isListPage(value) && value.hasMore)
    io.stderr.write(`More results: use --cursor ${escapeLine(String(value.nextCursor))}, or --all for all.\n`)
}

function textFor(value: unknown, look: TableOptions): string {
  if (Array.isArray(value)) return listText(value, look)
  if (!isRecord(value)) return `${escapeLine(String(value))}\n`
  return isListPage(value) ? listText(value.data, look) : formatRecord(value, look)
}

interface Page {
  readonly data: readonly unknown[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

export const isListPage = (value: unknown): value is Page & Readonly<Record<string, unknown>> =>
  isRecord(value) && Array.isArray(value.data) && typeof value.hasMore === 'boolean'

function listText(rows: readonly unknown[], look: TableOptions): string {
  if (rows.length === 0) return look.style.dim('None.\n')
  if (rows.every(isRecord)) return formatTable(rows, look)
  return rows.map(row => `${escapeLine(typeof row === 'string' ? row : JSON.stringify(row))}\n`).join('')
}

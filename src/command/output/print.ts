import { isRecord } from '../../values/members.ts'
import type { Io } from '../io.ts'
import { recordOf, type TableOptions, tableOf } from './tables.ts'
import { safeJson, safeLine, styleFor } from './terminal.ts'

export interface Printing {
  readonly io: Io
  readonly asJson: boolean
}

/** People get tables and pipes get JSON, unless an option chooses. */
export const printsJson = ({ stdout }: Io, { json, table }: { json?: unknown; table?: unknown }): boolean =>
  json === true || (table !== true && stdout.isTTY !== true)

export function lookOf({ stdout, env }: Io): TableOptions {
  return { style: styleFor(stdout, env), columns: stdout.isTTY ? stdout.columns || 80 : undefined }
}

export function printValue(value: unknown, { io, asJson }: Printing): void {
  if (value === undefined) return
  if (asJson) return void io.stdout.write(`${safeJson(value)}\n`)
  io.stdout.write(textFor(value, lookOf(io)))
  if (isPage(value) && value.hasMore)
    io.stderr.write(`More results: use --cursor ${safeLine(String(value.nextCursor))}, or --all for all.\n`)
}

function textFor(value: unknown, look: TableOptions): string {
  if (Array.isArray(value)) return listText(value, look)
  if (!isRecord(value)) return `${safeLine(String(value))}\n`
  return isPage(value) ? listText(value.data, look) : recordOf(value, look)
}

interface Page {
  readonly data: readonly unknown[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

export const isPage = (value: unknown): value is Page & Readonly<Record<string, unknown>> =>
  isRecord(value) && Array.isArray(value.data) && typeof value.hasMore === 'boolean'

function listText(rows: readonly unknown[], look: TableOptions): string {
  if (rows.length === 0) return look.style.dim('None.\n')
  if (rows.every(isRecord)) return tableOf(rows, look)
  return rows.map(row => `${safeLine(typeof row === 'string' ? row : JSON.stringify(row))}\n`).join('')
}

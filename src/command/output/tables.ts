import { commonTableMembers, isRecord, memberKind, type Row } from '../../values/members.ts'
import { escapeLine } from '../../values/terminal-text.ts'
import { displayWidth, padToWidth, type TerminalStyle, truncateToWidth } from './terminal.ts'

export function formatCell(name: string, value: unknown): string {
  switch (memberKind(name, value)) {
    case 'none':
      return value === '' ? '' : '–'
    case 'amount':
      return amount(value as number)
    case 'number':
      return String(value)
    case 'flag':
      return value === true ? 'yes' : 'no'
    case 'instant':
      return String(value).replace(/T([\d:]{8}).*$/, ' $1Z')
    case 'id':
    case 'text':
      return escapeLine(String(value))
    case 'list':
      return (value as readonly unknown[]).map(item => formatCell(name, item)).join(', ') || '–'
    default:
      return escapeLine(JSON.stringify(value))
  }
}

/** Two decimals at least, and never rounded if a value has more. */
const amount = (value: number): string => {
  const fixed = value.toFixed(2)
  return Number(fixed) === value ? fixed : String(value)
}

export interface TableOptions {
  readonly style: TerminalStyle
  readonly columns: number | undefined
}

const GAP = '  '
const LONGEST_CELL = 48

interface Column {
  readonly name: string
  readonly isRight: boolean
  readonly cells: readonly string[]
  readonly width: number
}

/** Prints rows below each other. If the terminal is too narrow, the least informative columns are omitted first. */
export function formatTable(rows: readonly Row[], { style, columns: room }: TableOptions): string {
  const all = commonTableMembers(rows).map(name => columnOf(name, rows, room))
  const columns = fitting(all, room)
  const cellsOf = (index: number): string[] => columns.map(({ cells }) => cells[index] ?? '')
  const head = line(
    columns,
    columns.map(({ name }) => escapeLine(name)),
  )
  const lines = [style.bold(head), ...rows.map((_, index) => line(columns, cellsOf(index)))]
  return `${lines.join('\n')}\n`
}

function columnOf(name: string, rows: readonly Row[], room: number | undefined): Column {
  const values = rows.map(row => row[name])
  const isRight = values.some(value => typeof value === 'number')
  const cells = values.map(value => {
    const cell = formatCell(name, value)
    return memberKind(name, value) === 'id' || room === undefined ? cell : truncateToWidth(cell, LONGEST_CELL)
  })
  const width = Math.max(displayWidth(escapeLine(name)), ...cells.map(displayWidth))
  return { name, isRight, cells, width }
}

function fitting(columns: readonly Column[], room: number | undefined): readonly Column[] {
  if (room === undefined) return columns
  let left = room
  return columns.filter(({ width }, index) => {
    const needed = width + (index === 0 ? 0 : GAP.length)
    if (index > 0 && needed > left) return false
    left -= needed
    return true
  })
}

const line = (columns: readonly Column[], cells: readonly string[]): string =>
  columns
    .map(({ width, isRight }, index) => padToWidth(cells[index] ?? '', width, isRight))
    .join(GAP)
    .trimEnd()

export function formatRecord(record: Row, look: TableOptions): string {
  const { lines, lists } = partsOf(record, '')
  const width = Math.max(0, ...lines.map(([name]) => displayWidth(name)))
  const room = look.columns === undefined ? undefined : Math.max(20, look.columns - width - GAP.length)
  const text = lines.map(
    ([name, cell]) =>
      `${look.style.bold(padToWidth(name, width))}${GAP}${wrapped(cell, room, width + GAP.length)}\n`,
  )
  const tables = lists.map(([name, rows]) => `\n${look.style.bold(name)}\n${formatTable(rows, look)}`)
  return [...text, ...tables].join('')
}

interface Parts {
  readonly lines: [name: string, cell: string][]
  readonly lists: [name: string, rows: readonly Row[]][]
}

function partsOf(record: Row, before: string): Parts {
  const parts: Parts = { lines: [], lists: [] }
  for (const [member, value] of Object.entries(record)) {
    const name = before + escapeLine(member)
    if (isRecord(value) && Object.keys(value).length > 0) {
      const inner = partsOf(value, `${name}.`)
      parts.lines.push(...inner.lines)
      parts.lists.push(...inner.lists)
    } else if (Array.isArray(value) && value.length > 0 && value.every(isRecord))
      parts.lists.push([name, value])
    else parts.lines.push([name, isRecord(value) ? '–' : formatCell(member, value)])
  }
  return parts
}

/** Wraps long texts, so that nothing of a single record is omitted. */
function wrapped(text: string, room: number | undefined, indent: number): string {
  if (room === undefined || displayWidth(text) <= room) return text
  const lines = ['']
  for (const word of text.split(' ')) {
    const joined = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`
    if (displayWidth(joined) <= room || lines.at(-1) === '') lines[lines.length - 1] = joined
    else lines.push(word)
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

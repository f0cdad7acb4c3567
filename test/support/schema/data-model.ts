import { readMigrations } from '../../../src/migrations/index.ts'

export interface Table {
  readonly name: string
  readonly area: string
  readonly columns: Map<string, { readonly type: string; readonly isNeeded: boolean }>
  readonly references: Reference[]
  /** The columns of its primary key and unique constraints, joined by commas. */
  readonly unique: Set<string>
}

export interface Reference {
  readonly columns: readonly string[]
  readonly table: string
}

const LIST = String.raw`\(([^()]*)\)`
const namesIn = (list = ''): string[] => list.split(',').map(name => name.trim())

/** All tables, parsed from the migrations; throws at an unreadable statement. */
export function tablesOfMigrations(migrations = readMigrations()): Map<string, Table> {
  const tables = new Map<string, Table>()
  for (const { text } of migrations) {
    let area = ''
    for (const part of text.split(/^(?=-- Area: )/m)) {
      area = /^-- Area: (\w+)/.exec(part)?.[1] ?? area
      for (const statement of statementsIn(part)) read(tables, statement, area)
    }
  }
  return tables
}

/** Statements that change no table: its contents, permissions and indexes. */
const BESIDE =
  /^(do |alter index |grant |revoke |alter default |insert |update |delete |set constraints |create sequence |create (unique )?index |drop (index|function) |lock table )/

function statementsIn(text: string): string[] {
  const bare = text.replace(/^\s*--.*$/gm, '').replace(/do \$\$[\s\S]*?\$\$;/g, '')
  return bare
    .split(/;\s*$/m)
    .map(statement => statement.replace(/\s+/g, ' ').trim())
    .filter(statement => statement && !BESIDE.test(statement))
}

function read(tables: Map<string, Table>, statement: string, area: string): void {
  const created = /^create (?:unlogged )?table (\w+) \((.*)\)/.exec(statement)
  const altered = /^alter table (\w+) (.*)$/.exec(statement)
  const renamed = /^alter table (\w+) rename to (\w+)$/.exec(statement)
  const dropped = /^drop table (\w+)$/.exec(statement)
  if (created) {
    const table = {
      name: String(created[1]),
      area,
      columns: new Map(),
      references: [],
      unique: new Set<string>(),
    }
    tables.set(table.name, table)
    for (const part of partsOf(String(created[2]))) readPart(table, part)
  } else if (renamed) {
    const table = tables.get(String(renamed[1]))
    if (table) tables.set(String(renamed[2]), { ...table, name: String(renamed[2]) })
    tables.delete(String(renamed[1]))
  } else if (altered) {
    const table = tables.get(String(altered[1]))
    for (const part of partsOf(String(altered[2]))) change(table, part)
  } else if (dropped) tables.delete(String(dropped[1]))
  else throw new Error(`test/support/schema/data-model.ts cannot read: ${statement}`)
}

/** Split at the commas outside parentheses. */
function partsOf(body: string): string[] {
  let depth = 0
  let quoted = false
  const parts = ['']
  for (const letter of body) {
    if (letter === "'") quoted = !quoted
    if (!quoted && letter === '(') depth++
    if (!quoted && letter === ')') depth--
    if (letter === ',' && depth === 0 && !quoted) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map(part => part.trim())
}

function change(table: Table | undefined, part: string): void {
  const dropped = /^drop column (\w+)/.exec(part)
  if (!table) throw new Error(`test/support/schema/data-model.ts does not know the table of: ${part}`)
  if (dropped) table.columns.delete(String(dropped[1]))
  else if (/^add /.test(part)) readPart(table, part.replace(/^add (column )?/, ''))
  else if (!/^(drop constraint|alter column \w+ (set|drop) (default|storage|not null)|set \()/.test(part))
    throw new Error(`test/support/schema/data-model.ts cannot read: alter table ${table.name} ${part}`)
}

function readPart(table: Table, text: string): void {
  const part = text.replace(/^constraint \w+ /, '')
  const key = new RegExp(`^(?:primary key|unique(?: nulls not distinct)?) ${LIST}`).exec(part)
  const reference = new RegExp(`^foreign key ${LIST} references (\\w+)`).exec(part)
  if (key) table.unique.add(namesIn(key[1]).join())
  else if (reference) table.references.push({ columns: namesIn(reference[1]), table: String(reference[2]) })
  else if (!/^(check|exclude) /.test(part)) readColumn(table, part)
}

function readColumn(table: Table, part: string): void {
  const [, name = '', type = ''] = /^(\w+) (double precision|\w+(?:\(\d+\))?(?:\[\])?)/.exec(part) ?? []
  const isKey = / primary key/.test(part)
  table.columns.set(name, { type, isNeeded: isKey || / (not null|generated)/.test(part) })
  if (isKey || / unique/.test(part)) table.unique.add(name)
  const referred = / references (\w+)/.exec(part)
  if (referred) table.references.push({ columns: [name], table: String(referred[1]) })
}

/** The tenant is part of nearly all keys and says nothing about relations. */
const TENANT = ['owner_id', 'mode']
const isTold = ({ columns }: Reference): boolean => columns.some(column => !TENANT.includes(column))

/** Diagrams by area, in Mermaid: each table with its status, its amounts and its references. */
export function picturesOf(tables: ReadonlyMap<string, Table>): Map<string, string> {
  const areas = Map.groupBy(tables.values(), ({ area }) => area)
  return new Map(
    [...areas].map(([area, own]) => [
      area,
      ['```mermaid', 'erDiagram', ...own.flatMap(boxOf), ...own.flatMap(linesOf), '```'].join('\n'),
    ]),
  )
}

function boxOf({ name, columns, references }: Table): string[] {
  const referring = new Set(references.flatMap(one => one.columns))
  const shown = [...columns].filter(
    ([column]) =>
      !TENANT.includes(column) && (column === 'status' || /_cents$/.test(column) || referring.has(column)),
  )
  if (shown.length === 0) return [`  ${name}`]
  const rows = shown.map(([column, { type }]) => `    ${type.replace(/\W.*/, '')} ${column}`)
  return [`  ${name} {`, ...rows, '  }']
}

function linesOf({ name, columns, references, unique }: Table): string[] {
  return references.filter(isTold).map(({ columns: by, table }) => {
    const own = by.filter(column => !TENANT.includes(column))
    const many = unique.has(by.join()) ? 'o|' : 'o{'
    const one = own.every(column => columns.get(column)?.isNeeded) ? '||' : '|o'
    return `  ${table} ${one}--${many} ${name} : ${own.at(-1)}`
  })
}

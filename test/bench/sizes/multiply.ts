import { hashSecret } from '../../../src/kernel/database/credential.ts'
import { newVirtualIban } from '../../../src/money/wallets/lifecycle.ts'
import { firstIdAt } from '../../../src/values/ids.ts'
import { COPY_NULL, copyText } from './copy-in.ts'
import type { Row, Table, TableRows, Template } from './template.ts'

/** One more set of a template's payments: that of another owner, or a further one of the same. */
export interface Copy {
  readonly owner: number
  /** Among all sets of payments. */
  readonly number: number
  /** Which set of its owner it is, from 0, and how many the owner has. */
  readonly repeat: number
  readonly repeats: number
  /** By how many milliseconds what was there before the payments is moved, this set, and the owner's last set. */
  readonly openedMs: number
  readonly movedMs: number
  readonly lastMovedMs: number
}

const DAY_MS = 86_400_000

/** Text that differs from copy to copy; each is made once for a copy. */
class Slot {
  readonly #make: (copy: Copy) => string
  #copy: Copy | undefined
  #text = ''

  constructor(make: (copy: Copy) => string) {
    this.#make = make
  }

  text(copy: Copy): string {
    if (this.#copy !== copy) {
      this.#text = this.#make(copy)
      this.#copy = copy
    }
    return this.#text
  }
}

type Piece = string | Slot

const textOf = (pieces: readonly Piece[], copy: Copy): string => {
  let text = ''
  for (const piece of pieces) text += typeof piece === 'string' ? piece : piece.text(copy)
  return text
}

interface CompiledRow {
  readonly fields: readonly (readonly Piece[])[]
  /** It was there before the payments. */
  readonly isOld: boolean
}

interface CompiledTable extends Table {
  readonly rows: readonly CompiledRow[]
  readonly sums: readonly Sum[] | undefined
}

/** A column of a row that counts payments: what it holds, and what the payments of one set add to it. */
interface Sum {
  readonly column: number
  readonly values: readonly { readonly now: bigint; readonly added: bigint }[]
}

/** Tables with one row for several payments, and what these add to. */
const SUMMED: Readonly<Record<string, readonly string[]>> = {
  counters: ['reserved_cents', 'spent_cents', 'reserved_uses', 'uses'],
  spend_cells: ['payments', 'spent_cents', 'refunded_cents', 'fee_cents'],
  risk_profiles: [],
  risk_merchants: [],
  merchant_names: [],
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const VARYING = new RegExp(
  [
    String.raw`(?<instant>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|\+00))`,
    String.raw`(?<=month:)(?<month>\d{4}-\d\d)`,
    String.raw`(?<day>\d{4}-\d\d-\d\d)`,
    '(?<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})',
    `(?<=_)(?<id>[0-7][${DIGITS}]{25})(?![0-9a-z])`,
    String.raw`(?<processor>sandbox(?:card|token)_[a-p]{6}(?:_\d{6})?_[a-p]{32})`,
    String.raw`(?<iban>DE\d{20})`,
  ].join('|'),
  'g',
)
type Kind = 'instant' | 'month' | 'day' | 'uuid' | 'id' | 'processor' | 'iban'

const WRITTEN = /^(?:text|jsonb|date|uuid|timestamp.*|text\[\])$/

const millisecondsOf = (id: string): number =>
  [...id.slice(0, 10)].reduce((sum, digit) => 32 * sum + DIGITS.indexOf(digit), 0)

/** PostgreSQL's own form in UTC, or that of JSON. */
const instantOf = (text: string): number => Date.parse(text.replace(' ', 'T').replace(/\+00$/, 'Z'))

const digitsOf = (milliseconds: number): string => firstIdAt('', new Date(milliseconds)).slice(1)

/** A key of the owner with this number. */
export const tokenOf = ({ token }: Pick<Template, 'token'>, owner: number): string =>
  `${token.slice(0, -7)}${String(owner).padStart(7, '0')}`

/** As many numbers of wallets and of references to them as an owner has at most. */
export const NUMBERS_OF_OWNER = 100

/** Makes the rows of any number of owners from those of one. */
export class Multiplier {
  /** As many transactions of the journal as one set has. */
  readonly transactions: number
  /** The first transaction of the copies. */
  readonly #firstWrittenIn: number
  readonly #template: Template
  readonly #slots = new Map<string, Slot>()
  readonly #oldIds: ReadonlySet<string>
  readonly #ibans: ReadonlySet<string>
  readonly #accounts: ReadonlyMap<string, AccountChange>
  readonly #writtenIn: ReadonlyMap<string, number>
  readonly #beganMs: number
  readonly #tables: readonly CompiledTable[]
  readonly #sums = new Map<string, Map<string, string[]>>()

  constructor(template: Template, firstWrittenIn: number) {
    this.#template = template
    this.#firstWrittenIn = firstWrittenIn
    this.#oldIds = new Set(
      template.before.flatMap(({ rows }) =>
        rows
          .flat()
          .flatMap(text => [...(text ?? '').matchAll(VARYING)].map(({ groups }) => groups?.id ?? '')),
      ),
    )
    this.#ibans = new Set(columnOf(template.after, 'wallets', 'iban'))
    this.#accounts = accountChanges(template)
    const written = [...new Set(columnOf(template.after, 'events', 'written_in'))].sort(
      (a, b) => Number(a) - Number(b),
    )
    this.#writtenIn = new Map(written.map((one, n) => [one, n]))
    this.transactions = written.length
    this.#beganMs = Math.max(...columnOf(template.before, 'events', 'created_at').map(instantOf))
    this.#tables = template.after.map(table => this.#compile(table))
  }

  /** The name of a table with the columns that are copied. */
  get into(): ReadonlyMap<string, string> {
    return new Map(
      this.#tables.map(({ name, columns }) => [
        name,
        `${name} (${columns.map(one => `"${one.name}"`).join(', ')})`,
      ]),
    )
  }

  /** A text of the template, as a copy has it. */
  renamed(text: string, copy: Copy): string {
    return textOf(this.#pieces(text, true), copy)
  }

  /** Adds the lines of a copy to those of each of these tables. */
  add(copy: Copy, lines: ReadonlyMap<string, string[]>): void {
    for (const table of this.#tables) {
      const all = lines.get(table.name)
      if (!all) continue
      if (table.sums && copy.repeats > 1) this.#addSums(table, copy)
      else
        for (const { fields, isOld } of table.rows)
          if (!isOld || copy.repeat === 0)
            all.push(`${fields.map(field => textOf(field, copy)).join('\t')}\n`)
    }
    if (copy.repeat === copy.repeats - 1) this.#writeSums(lines)
  }

  #addSums({ name, rows, key, sums = [] }: CompiledTable, copy: Copy): void {
    const known = this.#sums.get(name) ?? new Map<string, string[]>()
    this.#sums.set(name, known)
    for (const [n, { fields }] of rows.entries()) {
      const line = fields.map(field => textOf(field, copy))
      const place = key.map(column => line[column]).join('\t')
      const before = known.get(place)
      for (const { column, values } of sums) {
        const { now = 0n, added = 0n } = values[n] ?? {}
        line[column] = String(BigInt(before?.[column] ?? 0) + (copy.repeat === 0 ? now : added))
      }
      known.set(place, line)
    }
  }

  #writeSums(lines: ReadonlyMap<string, string[]>): void {
    for (const [name, known] of this.#sums)
      for (const line of known.values()) lines.get(name)?.push(`${line.join('\t')}\n`)
    this.#sums.clear()
  }

  #compile(table: TableRows): CompiledTable {
    const old = this.#template.before.find(({ name }) => name === table.name)
    const placeOf = (row: Row) => table.key.map(column => row[column]).join('\t')
    const oldRows = new Map((old?.rows ?? []).map(row => [placeOf(row), row]))
    const rows = table.rows.map(row => {
      const isOld = oldRows.has(placeOf(row))
      const fields = row.map((value, column) => this.#field({ table, row, column, value, isOld }))
      const isOwn = table.key.some(column => fields[column]?.some(piece => this.#isOfPayment(piece)))
      if (!isOld && !isOwn && !SUMMED[table.name])
        throw new Error(`${table.name}: say in SUMMED what several payments add to ${placeOf(row)}`)
      return { fields, isOld }
    })
    const sums = SUMMED[table.name]?.map(name => {
      const column = table.columns.findIndex(one => one.name === name)
      const values = table.rows.map(row => {
        const now = BigInt(row[column] ?? 0)
        return { now, added: now - BigInt(oldRows.get(placeOf(row))?.[column] ?? 0) }
      })
      return { column, values }
    })
    return { ...table, rows, sums }
  }

  /** Whether the piece differs between two sets of payments of an owner. */
  #isOfPayment(piece: Piece): boolean {
    const one = { owner: 1, number: 1, repeat: 0, repeats: 2, openedMs: 0, movedMs: 0, lastMovedMs: 0 }
    return typeof piece !== 'string' && piece.text(one) !== piece.text({ ...one, number: 2, repeat: 1 })
  }

  #field({ table, row, column, value, isOld }: Field): readonly Piece[] {
    if (value === null) return [COPY_NULL]
    const { name = '', type = '' } = table.columns[column] ?? {}
    const valueIn = (other: string) => row[table.columns.findIndex(one => one.name === other)] ?? ''
    const own = this.#ownSlot({ place: `${table.name}.${name}`, value, valueIn, isOld })
    if (own) return [own]
    return WRITTEN.test(type) ? this.#pieces(copyText(value), isOld) : [copyText(value)]
  }

  /** The columns whose values are more than texts: numbers that follow each other, and secrets. */
  #ownSlot({ place, value, valueIn, isOld }: Cell): Slot | undefined {
    const number = Number(value)
    const { name: column = '' } = /\.(?<name>.*)/.exec(place)?.groups ?? {}
    switch (place) {
      case 'keys.hash':
        return new Slot(({ owner }) => hashSecret(tokenOf(this.#template, owner)))
      case 'wallets.reference_number':
      case 'payment_references.number':
        return new Slot(({ owner }) => String(number + NUMBERS_OF_OWNER * owner))
      case 'events.written_in': {
        const nth = this.#writtenIn.get(value) ?? 0
        return new Slot(copy =>
          String(
            this.#firstWrittenIn +
              (isOld ? copy.number - copy.repeat : copy.number) * this.transactions +
              nth,
          ),
        )
      }
      case 'ledger_accounts.updated_at':
        return new Slot(({ lastMovedMs }) => new Date(instantOf(value) + lastMovedMs).toISOString())
      case 'ledger_accounts.version':
      case 'ledger_accounts.posted_cents':
      case 'ledger_accounts.held_cents':
        return this.#stepping(valueIn('id'), column, number, ({ repeats }) => repeats - 1)
      case 'ledger_entries.version':
      case 'ledger_entries.balance_after_cents':
      case 'ledger_entries.held_after_cents':
        return isOld
          ? undefined
          : this.#stepping(valueIn('account_id'), column, number, ({ repeat }) => repeat)
      case 'ledger_transfers.entry_versions':
        return isOld ? undefined : this.#versions(valueIn('entry_accounts'), value)
      default:
        return undefined
    }
  }

  #stepping(account: string, column: string, number: number, times: (copy: Copy) => number): Slot {
    const step = this.#accounts.get(account)?.[column.replace('_after', '')] ?? 0
    return new Slot(copy => String(number + times(copy) * step))
  }

  #versions(accounts: string, versions: string): Slot {
    const listOf = (text: string) => text.slice(1, -1).split(',')
    const slots = listOf(accounts).map((account, n) =>
      this.#stepping(account, 'version', Number(listOf(versions)[n]), ({ repeat }) => repeat),
    )
    return new Slot(copy => `{${slots.map(slot => slot.text(copy)).join(',')}}`)
  }

  #pieces(text: string, isOld: boolean): readonly Piece[] {
    const pieces: Piece[] = []
    let last = 0
    for (const { 0: found, index, groups = {} } of text.matchAll(VARYING)) {
      const kind = Object.keys(groups).find(name => groups[name] !== undefined) as Kind
      if (kind === 'iban' && !this.#ibans.has(found)) continue
      pieces.push(text.slice(last, index), this.#slot(kind, found, isOld))
      last = index + found.length
    }
    return [...pieces, text.slice(last)]
  }

  #slot(kind: Kind, found: string, isOldRow: boolean): Slot {
    const isOld = kind === 'id' ? this.#oldIds.has(found) : isOldRow
    const name = `${kind} ${isOld} ${found}`
    const known = this.#slots.get(name)
    if (known) return known
    const slot = new Slot(this.#making(kind, found, isOld))
    this.#slots.set(name, slot)
    return slot
  }

  #making(kind: Kind, found: string, isOld: boolean): (copy: Copy) => string {
    const moved = (copy: Copy) => (isOld ? copy.openedMs : copy.movedMs)
    const numberOf = (copy: Copy) => (isOld ? copy.number - copy.repeat : copy.number)
    const dayIn = (copy: Copy, day: string) =>
      new Date(Date.parse(day) + DAY_MS * this.#days(moved(copy))).toISOString().slice(0, 10)
    switch (kind) {
      case 'instant':
        return copy => new Date(instantOf(found) + moved(copy)).toISOString()
      case 'day':
        return copy => dayIn(copy, found)
      case 'month':
        return copy => dayIn(copy, new Date(this.#beganMs).toISOString().slice(0, 10)).slice(0, 7)
      case 'uuid':
        return copy => found.slice(0, -8) + numberOf(copy).toString(16).padStart(8, '0')
      case 'id': {
        const at = millisecondsOf(found)
        return copy =>
          digitsOf(at + moved(copy)) +
          found.slice(10, 14) +
          digitsOf(numberOf(copy)).slice(-5) +
          found.slice(19)
      }
      case 'processor':
        return ({ owner }) => found.slice(0, -7) + lettersOf(owner)
      case 'iban':
        return ({ owner }) => ibanOf(found, owner)
    }
  }

  /** By how many days in UTC the template's day is moved. */
  #days(movedMs: number): number {
    return Math.floor((this.#beganMs + movedMs) / DAY_MS) - Math.floor(this.#beganMs / DAY_MS)
  }
}

interface Field {
  readonly table: Table
  readonly row: Row
  readonly column: number
  readonly value: string | null
  readonly isOld: boolean
}

interface Cell {
  readonly place: string
  readonly value: string
  readonly valueIn: (column: string) => string
  readonly isOld: boolean
}

/** What the payments change on an account, by column. */
type AccountChange = Readonly<Record<string, number>>

function accountChanges({ before, after }: Template): ReadonlyMap<string, AccountChange> {
  const changes = new Map<string, AccountChange>()
  const ids = columnOf(before, 'ledger_accounts', 'id')
  for (const id of columnOf(after, 'ledger_accounts', 'id')) {
    const change = (column: string) =>
      Number(
        columnOf(after, 'ledger_accounts', column)[columnOf(after, 'ledger_accounts', 'id').indexOf(id)],
      ) - Number(columnOf(before, 'ledger_accounts', column)[ids.indexOf(id)] ?? 0)
    changes.set(id, {
      version: change('version'),
      posted_cents: change('posted_cents'),
      balance_cents: change('posted_cents'),
      held_cents: change('held_cents'),
    })
  }
  return changes
}

function columnOf(tables: readonly TableRows[], table: string, name: string): string[] {
  const { columns = [], rows = [] } = tables.find(one => one.name === table) ?? {}
  const place = columns.findIndex(column => column.name === name)
  return rows.flatMap(row => row[place] ?? [])
}

const lettersOf = (number: number): string =>
  [...number.toString(16).padStart(7, '0')]
    .map(digit => String.fromCharCode(97 + Number.parseInt(digit, 16)))
    .join('')

function ibanOf(iban: string, owner: number): string {
  const number = BigInt(iban.slice(12)) + BigInt(NUMBERS_OF_OWNER * owner)
  return newVirtualIban('test', { code: iban.slice(4, 12), bic: '' }, number).iban ?? iban
}

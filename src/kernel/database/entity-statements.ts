import { type EntityClass, RawQueryFragment } from '@mikro-orm/core'
import type { RowSource, Tally } from '../contract/conditions.ts'
import { selectColumnList } from './bulk-sql.ts'
import { type Column, type Table, tableOf } from './table.ts'

export interface Statement {
  readonly text: string
  readonly values: unknown[]
}

export interface Selection {
  /** Instead of the whole table, and of `orderBy`. */
  readonly source?: RowSource | undefined
  readonly orderBy?: Readonly<Record<string, unknown>> | undefined
  readonly limit?: number | undefined
  readonly isLocking?: boolean
}

type Members = Readonly<Record<string, unknown>>

/** A column, or a fragment of SQL: PostgreSQL finds the type of a fragment itself. */
type Compared = Pick<Column, 'name'> & Partial<Pick<Column, 'type'>>

const listOf = (place: string, type: string | undefined): string => (type ? `${place}::${type}[]` : place)

const comparisons: Readonly<Record<string, (compared: Compared, place: string) => string>> = {
  $eq: ({ name }, place) => `${name} = ${place}`,
  // `coalesce` hides the comparison from PostgreSQL's statistics: if all rows have the same status, they say that no row
  // has another status than $1, and a list would be sorted as if it were a single row.
  $ne: ({ name }, place) => `coalesce(${name} <> ${place}, false)`,
  $gt: ({ name }, place) => `${name} > ${place}`,
  $gte: ({ name }, place) => `${name} >= ${place}`,
  $lt: ({ name }, place) => `${name} < ${place}`,
  $lte: ({ name }, place) => `${name} <= ${place}`,
  $in: ({ name, type }, place) => `${name} = any(${listOf(place, type)})`,
  $nin: ({ name, type }, place) => `${name} <> all(${listOf(place, type)})`,
  $like: ({ name }, place) => `${name} like ${place}`,
  // In any case, also of letters beyond ASCII, which the collation of a database may not fold.
  $ilike: ({ name }, place) => `${name} ilike ${place} collate "pg_c_utf8"`,
}

/** A condition that only MikroORM's query builder can write. */
class NotPlain extends Error {}

/** The statements of one entity. Their texts hold no values, so they are few, and each connection prepares each once. */
export class EntityStatements {
  readonly table: Table<{ id: string }>
  readonly #columns: ReadonlyMap<string, Column>
  readonly #stored: readonly Column[]
  readonly #selection: string
  readonly #texts = new Map<string, string>()

  constructor(entity: EntityClass<{ id: string }>) {
    this.table = tableOf(entity)
    this.#columns = new Map(this.table.columns.map(column => [column.member as string, column]))
    this.#stored = this.table.columns.filter(({ formula }) => formula === undefined)
    this.#selection = selectColumnList(this.table, this.table.name)
  }

  select(where: object, { source, orderBy, limit, isLocking = false }: Selection): Statement | undefined {
    const values: unknown[] = []
    const rest = [...(source?.values ?? [])]
    const rowsSql = source?.sql.replaceAll('?', () => `$${values.push(rest.shift())}`)
    const condition = this.condition(where, values)
    if (condition === undefined) return undefined
    const order = Object.entries(orderBy ?? {}).map(([member, way]) => `${this.#column(member).name} ${way}`)
    if (source) order.push(source.orderBy)
    let clause = `where ${condition}`
    if (order.length > 0) clause += ` order by ${order.join(', ')}`
    if (limit !== undefined) clause += limit === 1 ? ' limit 1' : ` limit $${values.push(limit)}`
    // Unlike `for update`, this does not block inserts of rows that refer to the locked one.
    if (isLocking) clause += ' for no key update'
    return { text: this.selecting(clause, rowsSql), values }
  }

  /** Rows of another source bear the table's name. */
  selecting(clause: string, source?: string): string {
    const from = source ? `(${source}) as ${this.table.name}` : this.table.name
    return this.#text(`${source ?? ''} ${clause}`, () => `select ${this.#selection} from ${from} ${clause}`)
  }

  count(where: object): Statement | undefined {
    const values: unknown[] = []
    const condition = this.condition(where, values)
    return condition === undefined
      ? undefined
      : { text: `select count(*)::int as count from ${this.table.name} where ${condition}`, values }
  }

  tally<T>(where: object, { by, sums, most }: Tally<T>): Statement | undefined {
    const values: unknown[] = []
    const condition = this.condition(where, values)
    if (condition === undefined) return undefined
    const [key, ...summed] = [by, ...sums].map(member => this.#column(member).name)
    const text = `
select ${key} as key, count(*)::int as count, array[${summed.map(name => `sum(${name})::text`).join(', ')}] as sums
from (select ${[key, ...summed].join(', ')} from ${this.table.name} where ${condition} order by id desc limit $${values.push(most)}) newest
group by 1 order by 1`
    return { text, values }
  }

  /** Rows are in the form of the database, as the unit of work hands them over. */
  insert(rows: readonly Members[]): Statement {
    const [row, ...others] = rows
    const names = this.#stored.map(({ name }) => name).join(', ')
    if (row && others.length === 0) {
      const text = this.#text('insert one', () => {
        const places = this.#stored.map((_, n) => `$${n + 1}`).join(', ')
        return `insert into ${this.table.name} (${names}) values (${places})`
      })
      return { text, values: this.#stored.map(({ member }) => row[member] ?? null) }
    }
    const text = this.#text('insert', () => {
      const values = this.#stored.map(fromRecordset).join(', ')
      return `insert into ${this.table.name} (${names}) select ${values} from ${recordset(this.#stored)}`
    })
    return { text, values: [asJson(rows)] }
  }

  update(key: Members, changes: Members): Statement {
    const changed = Object.keys(changes).map(member => this.#column(member))
    const keys = Object.keys(key).map(member => this.#column(member))
    const text = this.#text(`update ${keys.map(nameOf)} ${changed.map(nameOf)}`, () => {
      const set = changed.map(({ name }, n) => `${name} = $${keys.length + n + 1}`).join(', ')
      const found = keys.map(({ name }, n) => `${name} = $${n + 1}`).join(' and ')
      return `update ${this.table.name} set ${set} where ${found}`
    })
    return { text, values: [...Object.values(key), ...Object.values(changes)] }
  }

  /** The rows' changes have the same members. */
  updateMany(pairs: readonly { readonly key: Members; readonly change: Members }[]): Statement {
    const [first] = pairs
    const changed = Object.keys(first?.change ?? {}).map(member => this.#column(member))
    const keys = Object.keys(first?.key ?? {}).map(member => this.#column(member))
    const text = this.#text(`update many ${keys.map(nameOf)} ${changed.map(nameOf)}`, () => {
      const set = changed.map(column => `${column.name} = ${fromRecordset(column)}`).join(', ')
      const found = keys.map(({ name, member }) => `stored.${name} = r."${keyMember(member)}"`).join(' and ')
      const members = [...keys.map(key => ({ ...key, member: keyMember(key.member) })), ...changed]
      // `any` repeats the ids: PostgreSQL cannot tell that the recordset is short, and would read all rows.
      return `update ${this.table.name} as stored set ${set} from ${recordset(members)} where ${found} and stored.id = any($2::text[])`
    })
    const rows = pairs.map(({ key, change }) => ({ ...renamed(key), ...change }))
    return { text, values: [asJson(rows), pairs.map(({ key }) => key.id)] }
  }

  delete(key: Members): Statement {
    const keys = Object.keys(key).map(member => this.#column(member))
    const found = keys.map(({ name }, n) => `${name} = $${n + 1}`).join(' and ')
    return { text: `delete from ${this.table.name} where ${found}`, values: Object.values(key) }
  }

  /** Undefined where MikroORM's query builder has to write the condition. Appends its values to `values`. */
  condition(where: object, values: unknown[]): string | undefined {
    try {
      return this.#condition(where, values)
    } catch (error) {
      if (error instanceof NotPlain) return undefined
      throw error
    }
  }

  #condition(where: object, values: unknown[]): string {
    const parts = Reflect.ownKeys(where).map(key => {
      const wanted: unknown = (where as Record<PropertyKey, unknown>)[key]
      if (typeof key === 'symbol') return rawCondition(key, wanted, values)
      if (key === '$and' || key === '$or') {
        const joined = (wanted as object[]).map(part => this.#condition(part, values))
        return joined.length === 0 ? 'true' : `(${joined.join(key === '$or' ? ' or ' : ' and ')})`
      }
      return comparisonOf(this.#column(key), wanted, values)
    })
    return parts.length === 0 ? 'true' : parts.join(' and ')
  }

  #column(member: string): Column {
    const column = this.#columns.get(member)
    if (!column || column.formula) throw new NotPlain(`${member} is no column of ${this.table.name}`)
    return column
  }

  #text(key: string, compose: () => string): string {
    const text = this.#texts.get(key) ?? compose()
    this.#texts.set(key, text)
    return text
  }
}

const nameOf = ({ name }: Column): string => name

/** The key may change, too: a credit that is handed over gets another owner. */
const keyMember = (member: string): string => `key ${member}`

const renamed = (key: Members): Members =>
  Object.fromEntries(Object.entries(key).map(([member, value]) => [keyMember(member), value]))

/** `[raw(…)]: []` is a condition; any other value is what the fragment is compared with. */
function rawCondition(key: symbol, wanted: unknown, values: unknown[]): string {
  const fragment = RawQueryFragment.getKnownFragment(key)
  if (!fragment) throw new NotPlain('a symbol that is no fragment of SQL')
  const own = [...fragment.params]
  const name = `(${fragment.sql.replaceAll('?', () => `$${values.push(own.shift())}`)})`
  return Array.isArray(wanted) && wanted.length === 0 ? name : comparisonOf({ name }, wanted, values)
}

function comparisonOf(column: Compared, wanted: unknown, values: unknown[]): string {
  if (wanted === null) return `${column.name} is null`
  if (typeof wanted !== 'object' || wanted instanceof Date) return `${column.name} = $${values.push(wanted)}`
  const parts = Object.entries(wanted).map(([operator, value]) => {
    if (value === null && operator === '$ne') return `${column.name} is not null`
    const compare = comparisons[operator]
    if (!compare || value === null) throw new NotPlain(`${operator} on ${column.name}`)
    return compare(column, `$${values.push(value)}`)
  })
  return parts.length === 0 ? 'true' : parts.join(' and ')
}

/** JSON and lists arrive as text, as the unit of work compares them. */
const recordType = ({ type }: Column): string => (type === 'jsonb' || type === 'text[]' ? 'text' : type)

const recordset = (columns: readonly Column[]): string =>
  `jsonb_to_recordset($1::jsonb) as r(${columns.map(column => `"${column.member}" ${recordType(column)}`).join(', ')})`

const fromRecordset = (column: Column): string =>
  recordType(column) === column.type ? `r."${column.member}"` : `r."${column.member}"::${column.type}`

const asJson = (rows: readonly Members[]): string =>
  JSON.stringify(rows, (_, value) =>
    value === null ? undefined : typeof value === 'bigint' ? String(value) : value,
  )

const known = new WeakMap<object, EntityStatements>()

export function statementsOf(entity: EntityClass<object>): EntityStatements {
  const statements = known.get(entity) ?? new EntityStatements(entity as EntityClass<{ id: string }>)
  known.set(entity, statements)
  return statements
}

export function requiredStatement(statement: Statement | undefined): Statement {
  if (statement) return statement
  throw new Error('rows are found by members, comparisons and SQL only')
}

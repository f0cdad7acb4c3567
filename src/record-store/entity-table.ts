import { type EntityClass, EntitySchema } from '@mikro-orm/core'
import { deletionFrom, insertInto, selectColumnList, updateOf, updateOfAnyTenant } from './bulk-sql.ts'
import { Comparison } from './conditions.ts'
import type { Sql, Tenant } from './records.ts'
import { type Column, type Table, tableOf } from './table.ts'

/** Appends its values to `values`; the text has only their places. */
export function conditionSql(
  columns: ReadonlyMap<string, Column>,
  condition: object,
  values: unknown[],
): string {
  const place = (value: unknown): string => `$${values.push(value)}`
  const parts = Reflect.ownKeys(condition).map(key => {
    const wanted: unknown = (condition as Record<PropertyKey, unknown>)[key]
    if (typeof key === 'symbol') {
      const own = [...(wanted as unknown[])]
      return `(${key.description?.replaceAll('?', () => place(own.shift()))})`
    }
    if (key === '$and' || key === '$or') {
      const joined = (wanted as object[]).map(part => conditionSql(columns, part, values))
      return joined.length === 0 ? 'true' : `(${joined.join(key === '$or' ? ' or ' : ' and ')})`
    }
    const column = columns.get(key)
    if (!column || column.formula) throw new Error(`a condition names ${key}, which is no column`)
    return comparisonText(column, wanted, place)
  })
  return parts.length === 0 ? 'true' : parts.join(' and ')
}

/** The types cannot see into JSON: an object of it is refused here. */
function comparisonText(column: Column, wanted: unknown, place: (value: unknown) => string): string {
  const { name } = column
  if (wanted === undefined) throw new Error(`a condition on ${name} is undefined`)
  if (wanted === null) return `${name} is null`
  if (wanted instanceof Comparison) return wanted.sql(column, place)
  if (typeof wanted === 'object' && !(wanted instanceof Date))
    throw new Error(`a condition on ${name} is an object: compare with a value, or by not, oneOf or inRange`)
  return `${name} = ${place(wanted)}`
}

export type EntityMembers = Record<string, unknown>
type Default = (record: object, store: unknown) => unknown
export type WriteRecords = (sql: Sql, tenant: Tenant, records: readonly { id: string }[]) => Promise<void>

/** An entity as the record store sees it: table, defaults, the filter of the tenant, and statements composed once. */
export class EntityTable {
  readonly name: string
  readonly #table: Table<{ id: string }>
  readonly columns: ReadonlyMap<string, Column>
  readonly onCreate: readonly (readonly [member: string, value: Default])[]
  readonly onUpdate: readonly (readonly [member: string, value: Default])[]
  /** The condition on what a request reaches; undefined for a table that belongs to no tenant. */
  readonly reach: ((scope: object) => object) | undefined
  readonly #selection: string
  readonly #reads = new Map<string, string>()
  readonly #writes = new Map<string, WriteRecords>()

  constructor(entity: EntityClass<object>) {
    const { properties = {}, filters } = EntitySchema.REGISTRY.get(entity)?.meta ?? {}
    const declared = Object.entries(properties as Record<string, { onCreate?: Default; onUpdate?: Default }>)
    this.#table = tableOf(entity as EntityClass<{ id: string }>)
    this.name = this.#table.name
    this.columns = new Map(this.#table.columns.map(column => [column.member, column]))
    this.onCreate = declared.flatMap(([member, { onCreate }]) => (onCreate ? [[member, onCreate]] : []))
    this.onUpdate = declared.flatMap(([member, { onUpdate }]) => (onUpdate ? [[member, onUpdate]] : []))
    this.reach = filters?.tenant?.cond as EntityTable['reach']
    this.#selection = selectColumnList(this.#table, this.name)
  }

  /** Rows of another source bear the table's name. */
  selecting(clause: string, source?: string): string {
    const key = `${source ?? ''}${clause}`
    const known = this.#reads.get(key)
    if (known) return known
    const from = source ? `(${source}) as ${this.name}` : this.name
    const text = `select ${this.#selection} from ${from} ${clause}`
    this.#reads.set(key, text)
    return text
  }

  get insert(): WriteRecords {
    return this.#writing('insert', () => {
      const insert = insertInto(this.#table)
      return (sql, _tenant, records) => insert(sql, records)
    })
  }

  get delete(): WriteRecords {
    return this.#writing('delete', () => deletionFrom(this.#table))
  }

  update(members: readonly string[]): WriteRecords {
    return this.#writing(`update ${members.join()}`, () => {
      if (this.columns.has('ownerId')) return updateOf(this.#table, members as 'id'[])
      const update = updateOfAnyTenant(this.#table, members as 'id'[])
      return (sql, _tenant, records) => update(sql, records)
    })
  }

  #writing(name: string, compose: () => WriteRecords): WriteRecords {
    const known = this.#writes.get(name) ?? compose()
    this.#writes.set(name, known)
    return known
  }
}

const tables = new WeakMap<object, EntityTable>()

export function entityTable(entity: EntityClass<object>): EntityTable {
  const known = tables.get(entity) ?? new EntityTable(entity)
  tables.set(entity, known)
  return known
}

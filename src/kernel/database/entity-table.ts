import { type EntityClass, EntitySchema } from '@mikro-orm/core'
import type { Tenant } from '../contract/actor.ts'
import type { Sql } from '../contract/sql.ts'
import { deletionFrom, insertInto, selectList, updateOf, updateOfAnyTenant } from './bulk-sql.ts'
import { type Column, type Table, tableOf } from './hot-table.ts'

export type Members = Record<string, unknown>
type Default = (record: object, store: unknown) => unknown
export type Write = (sql: Sql, tenant: Tenant, records: readonly { id: string }[]) => Promise<void>

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
  readonly #writes = new Map<string, Write>()

  constructor(entity: EntityClass<object>) {
    const { properties = {}, filters } = EntitySchema.REGISTRY.get(entity)?.meta ?? {}
    const declared = Object.entries(properties as Record<string, { onCreate?: Default; onUpdate?: Default }>)
    this.#table = tableOf(entity as EntityClass<{ id: string }>)
    this.name = this.#table.name
    this.columns = new Map(this.#table.columns.map(column => [column.member, column]))
    this.onCreate = declared.flatMap(([member, { onCreate }]) => (onCreate ? [[member, onCreate]] : []))
    this.onUpdate = declared.flatMap(([member, { onUpdate }]) => (onUpdate ? [[member, onUpdate]] : []))
    this.reach = filters?.tenant?.cond as EntityTable['reach']
    this.#selection = selectList(this.#table, this.name)
  }

  /** The statement that reads what this clause says, behind `from`. */
  selecting(clause: string): string {
    const known = this.#reads.get(clause)
    if (known) return known
    const text = `select ${this.#selection} from ${this.name} ${clause}`
    this.#reads.set(clause, text)
    return text
  }

  get insert(): Write {
    return this.#writing('insert', () => {
      const insert = insertInto(this.#table)
      return (sql, _tenant, records) => insert(sql, records)
    })
  }

  get delete(): Write {
    return this.#writing('delete', () => deletionFrom(this.#table))
  }

  update(members: readonly string[]): Write {
    return this.#writing(`update ${members.join()}`, () => {
      if (this.columns.has('ownerId')) return updateOf(this.#table, members as 'id'[])
      const update = updateOfAnyTenant(this.#table, members as 'id'[])
      return (sql, _tenant, records) => update(sql, records)
    })
  }

  #writing(name: string, compose: () => Write): Write {
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

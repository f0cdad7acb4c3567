import type { EntityClass, RequiredEntityData } from '@mikro-orm/core'
import {
  conditionSql,
  type EntityMembers,
  type EntityTable,
  entityTable,
  type WriteRecords,
} from './entity-table.ts'
import type { FindOptions, RecordCondition, Records, Sql, Tally, TallyRow, Tenant } from './records.ts'

interface Tracked {
  readonly table: EntityTable
  state: 'new' | 'stored' | 'removed'
  row: EntityMembers
  /** Created or locked by this transaction: no other one can change the row. */
  readonly isHeld: boolean
}

/** Reads and writes records by prepared statements: no value is ever in their text. */
export class RecordStore<Scope extends Tenant> implements Records {
  /** The filters of the entities and the defaults of their members read it. */
  scope: Scope | undefined
  readonly #sql: Sql
  /** Undefined in a read: records are neither remembered nor compared. */
  readonly #tracked: Map<object, Tracked> | undefined
  readonly #byName = new Map<string, object>()

  constructor(sql: Sql, { readOnly = false } = {}) {
    this.#sql = sql
    if (!readOnly) this.#tracked = new Map()
  }

  async find<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    { orderBy = {}, limit, lock = false, source }: FindOptions<T> = {},
  ): Promise<T[]> {
    const table = entityTable(entity)
    const values: unknown[] = []
    const rest = [...(source?.values ?? [])]
    const rowsSql = source?.sql.replaceAll('?', () => `$${values.push(rest.shift())}`)
    let clause = `where ${this.#reached(table, condition, values)}`
    const order = Object.entries(orderBy).map(([member, way]) => `${table.columns.get(member)?.name} ${way}`)
    if (source) order.push(source.orderBy)
    if (order.length > 0) clause += ` order by ${order.join(', ')}`
    if (limit !== undefined) clause += limit === 1 ? ' limit 1' : ` limit $${values.push(limit)}`
    // Unlike `for update`, this does not block inserts of rows that refer to the locked one.
    if (lock) clause += ' for no key update'
    const rows = await this.#sql(table.selecting(clause, rowsSql), values)
    return rows.map(row => this.#recordOf(entity, row, lock))
  }

  async findOne<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options: FindOptions<T> = {},
  ): Promise<T | null> {
    const known = options.lock ? undefined : this.#known(entity, condition)
    if (known) return known
    const [record] = await this.find(entity, condition, { ...options, limit: 1 })
    return record ?? null
  }

  async findOneOrFail<T extends object>(entity: EntityClass<T>, condition: RecordCondition<T>): Promise<T> {
    const record = await this.findOne(entity, condition)
    if (record) return record
    throw new Error(`there is no ${entity.name} with this ${Object.keys(condition).join(' and ')}`)
  }

  async lock<T extends { id: string }>(entity: EntityClass<T>, id: string): Promise<T | null> {
    const known = this.#knownById(entity, id)
    if (known && this.#isHeld(known)) return known
    return this.findOne(entity, { id } as unknown as RecordCondition<T>, { lock: true })
  }

  async count<T extends object>(entity: EntityClass<T>, condition?: RecordCondition<T>): Promise<number> {
    const table = entityTable(entity)
    const values: unknown[] = []
    const where = this.#reached(table, condition ?? {}, values)
    const [row] = await this.#sql(`select count(*)::int as count from ${table.name} where ${where}`, values)
    return row?.count as number
  }

  async tally<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    { by, sums, most }: Tally<T>,
  ): Promise<TallyRow[]> {
    const table = entityTable(entity)
    const values: unknown[] = []
    const where = this.#reached(table, condition, values)
    const [key, ...summed] = [by, ...sums].map(member => table.columns.get(member)?.name)
    const rows = await this.#sql(
      `select ${key} as key, count(*)::int as count, array[${summed.map(name => `sum(${name})::text`).join(', ')}] as sums
from (select ${[key, ...summed].join(', ')} from ${table.name} where ${where} order by id desc limit $${values.push(most)}) newest
group by 1 order by 1`,
      values,
    )
    return rows as unknown as TallyRow[]
  }

  create<T extends object>(entity: EntityClass<T>, members: RequiredEntityData<T>): T {
    if (!this.#tracked) throw new Error('a read creates no records')
    const table = entityTable(entity)
    const record = Object.assign(Object.create(entity.prototype) as T, members)
    for (const [member, value] of table.onCreate)
      if ((record as EntityMembers)[member] === undefined)
        (record as EntityMembers)[member] = value(record, this)
    this.#remember(record, { table, state: 'new', row: {}, isHeld: true })
    return record
  }

  remove(record: object): void {
    const tracked = this.#tracked?.get(record)
    if (!tracked) throw new Error('only a record that this transaction has read can be removed')
    if (tracked.state === 'new') this.#forget(record, tracked)
    else tracked.state = 'removed'
  }

  /** Inserts, then updates, then deletes: an updated row may refer to one that is created with it. */
  async flush(): Promise<void> {
    const writes = this.#pendingWrites()
    await Promise.all(writes.map(({ write, tenant, records }) => write(this.#sql, tenant, records)))
  }

  /** Narrowed to what the request reaches: no read can forget it. */
  #reached(table: EntityTable, condition: object, values: unknown[]): string {
    if (!table.reach) return conditionSql(table.columns, condition, values)
    if (!this.scope) throw new Error(`${table.name} is read for no tenant: call switchTenant first`)
    const reached = conditionSql(table.columns, table.reach(this.scope), values)
    return `${reached} and ${conditionSql(table.columns, condition, values)}`
  }

  #known<T extends object>(entity: EntityClass<T>, condition: RecordCondition<T>): T | undefined {
    const { id, ...others } = condition as { id?: unknown }
    if (typeof id !== 'string' || Reflect.ownKeys(others).length > 0) return undefined
    return this.#knownById(entity, id)
  }

  /** Undefined for a record of a table without a tenant filter: its id does not say whose it is. */
  #knownById<T extends object>(entity: EntityClass<T>, id: string): T | undefined {
    const table = entityTable(entity)
    if (table.columns.has('ownerId') && !table.reach) return undefined
    return this.#byName.get(nameOf(table, table.reach ? { ...this.scope, id } : { id })) as T | undefined
  }

  #recordOf<T extends object>(entity: EntityClass<T>, row: EntityMembers, isLocked: boolean): T {
    if (!this.#tracked) return Object.assign(Object.create(entity.prototype), row)
    const table = entityTable(entity)
    const known = this.#byName.get(nameOf(table, row)) as T | undefined
    if (known && (!isLocked || this.#isHeld(known))) return known
    const stored = rowOf(table, row)
    const record: T = Object.assign(known ?? Object.create(entity.prototype), row)
    this.#remember(record, { table, state: 'stored', row: stored, isHeld: isLocked })
    return record
  }

  #isHeld = (record: object): boolean => this.#tracked?.get(record)?.isHeld === true

  #remember(record: object, tracked: Tracked): void {
    this.#tracked?.set(record, tracked)
    const members = record as EntityMembers
    if (members.id !== undefined) this.#byName.set(nameOf(tracked.table, members), record)
  }

  #forget(record: object, { table }: Tracked): void {
    this.#tracked?.delete(record)
    this.#byName.delete(nameOf(table, record as EntityMembers))
  }

  /** The writes that bring the rows up to date; from here on they count as written. */
  #pendingWrites(): Batch[] {
    const batches: Record<Tracked['state'], Batch[]> = { new: [], stored: [], removed: [] }
    for (const [record, tracked] of this.#tracked ?? []) {
      const { table, state, row } = tracked
      const write = this.#writeOf(record as EntityMembers, tracked)
      if (!write) continue
      // A record that changes its owner is found by the owner in its row.
      const tenant = (state === 'new' ? record : row) as unknown as Tenant
      const hasSame = (batch: Batch): boolean =>
        batch.write === write && batch.tenant.ownerId === tenant.ownerId && batch.tenant.mode === tenant.mode
      const batch = batches[state].find(hasSame)
      if (batch) batch.records.push(record as { id: string })
      else batches[state].push({ write, tenant, records: [record as { id: string }] })
      if (state === 'removed') this.#forget(record, tracked)
      tracked.state = 'stored'
      tracked.row = rowOf(table, record as EntityMembers)
    }
    return Object.values(batches).flat()
  }

  #writeOf(record: EntityMembers, { table, state, row }: Tracked): WriteRecords | undefined {
    if (state === 'new') return table.insert
    if (state === 'removed') return table.delete
    const now = rowOf(table, record)
    const isChanged = Object.keys(now).some(member => now[member] !== row[member])
    if (!isChanged) return undefined
    for (const [member, value] of table.onUpdate) record[member] = value(record, this)
    const updated = rowOf(table, record)
    return table.update(Object.keys(updated).filter(member => updated[member] !== row[member]))
  }
}

interface Batch {
  readonly write: WriteRecords
  readonly tenant: Tenant
  readonly records: { id: string }[]
}

/** Two owners may have records of the same id: a credit that the platform has handed over. */
const nameOf = ({ name }: EntityTable, { ownerId, mode, id }: EntityMembers): string =>
  `${name} ${ownerId} ${mode} ${id}`

function rowOf(table: EntityTable, record: EntityMembers): EntityMembers {
  const row: EntityMembers = {}
  for (const member of table.columns.keys()) row[member] = comparable(record[member])
  return row
}

function comparable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null
  return value instanceof Date ? value.getTime() : JSON.stringify(value)
}

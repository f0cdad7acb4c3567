import { afterAll, describe, expect, test } from '@jest/globals'
import type { EntityClass } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/postgresql'
import { areas } from '../src/areas.ts'
import type { Area } from '../src/kernel/contract/area.ts'
import { tableOf } from '../src/kernel/database/table.ts'
import { requirePostgresVersion } from '../src/platform/schema.ts'
import { startTestService } from './support/harness.ts'
import { tablesOfMigrations } from './support/schema/data-model.ts'
import './schema/changed-in-place.ts'
import './schema/decided-onboardings.ts'
import './schema/event-partitions.ts'
import './schema/functions.ts'
import './schema/pairings.ts'
import './schema/people-behind-keys.ts'
import './schema/refund-reservations.ts'
import './schema/seal-ranges.ts'
import './schema/stamps.ts'

const service = await startTestService({ own: true })
const all: Area[] = Object.values(areas)
const entities = all.flatMap(area => area.entities)
const orm = await MikroORM.init({ clientUrl: service.databaseUrl, entities, logger: () => undefined })
afterAll(() => orm.close(true))

/** PostgreSQL's names of the types that the entities declare. */
const names: Readonly<Record<string, string>> = {
  text: 'text',
  'text[]': 'ARRAY',
  bigint: 'bigint',
  int: 'integer',
  boolean: 'boolean',
  jsonb: 'jsonb',
  date: 'date',
  'double precision': 'double precision',
  'timestamptz(3)': 'timestamp with time zone',
}

const columnsOf = (table: string) =>
  service.sql<{ name: string; type: string; nullable: boolean }>(
    `select column_name as name, data_type as type, is_nullable = 'YES' as nullable
     from information_schema.columns where table_name = $1`,
    [table],
  )

describe('the migrated table of', () => {
  const metadata = orm.getMetadata()
  test.each(entities.map(entity => metadata.get(entity)))(
    '$className has the columns and types of the entity',
    async ({ tableName, props }) => {
      const columns = new Map((await columnsOf(tableName)).map(column => [column.name, column]))
      for (const { fieldNames, columnTypes, nullable } of props) {
        const column = columns.get(String(fieldNames?.[0]))
        const type = names[String(columnTypes?.[0])]
        expect(column).toMatchObject({ type, nullable: nullable ?? false })
      }
    },
  )
})

describe('the primary key of', () => {
  /** Deliveries of one event are found by the event; their ids are unique by themselves. */
  const unique = ['deliveries']

  test.each(entities.map(entity => orm.getMetadata().get(entity)))(
    '$className is its table’s: an id that two owners have names one row of each',
    async ({ tableName, primaryKeys, properties }) => {
      const columns = await service.sql<{ name: string }>(
        `select a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
         where i.indrelid = $1::regclass and i.indisprimary`,
        [tableName],
      )
      const declared = primaryKeys.map(
        member => (properties as Record<string, { fieldNames: string[] }>)[member]?.fieldNames[0],
      )
      const expected = unique.includes(tableName)
        ? ['id', 'mode', 'owner_id']
        : columns.map(({ name }) => name)
      expect(declared.toSorted()).toEqual(expected.toSorted())
    },
  )
})

describe('the filter of the tenant', () => {
  /** Who reads them instead, and names the owner in each condition. */
  const unfiltered = {
    customers: 'an owner is a customer: its account is read by its id',
    incoming_credits: 'the operator sees the credits of all owners, and one may be handed over to another',
    sepa_files: 'the operator’s files hold payments of all owners',
    sepa_messages: 'the messages of the bank about those files',
  }

  test('is declared by all entities but four', () => {
    const without = [...orm.getMetadata().getAll().values()].filter(({ filters }) => !filters.tenant)
    expect(without.map(({ tableName }) => tableName).toSorted()).toEqual(Object.keys(unfiltered))
  })
})

describe('the hot path’s columns of', () => {
  const columnsAndTypes = (table: string) =>
    service.sql<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, null) as type from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    )
  const preferred: Readonly<Record<string, string>> = {
    int: 'integer',
    float8: 'double precision',
    timestamptz: 'timestamp with time zone',
  }

  test.each(entities)('$name equal those of the migrated table', async entity => {
    const { name: table, columns } = tableOf(entity as EntityClass<{ id: string }>)
    const migrated = new Map((await columnsAndTypes(table)).map(({ name, type }) => [name, type]))
    const stored = columns.filter(({ formula }) => formula === undefined)
    expect(stored).not.toEqual([])
    for (const { member, name, type } of stored)
      expect([member, migrated.get(name)]).toEqual([member, preferred[type] ?? type])
    expect(columns).toHaveLength(orm.getMetadata().get(entity).props.length)
  })
})

/** Where a machine has some of the rows, or its column is not the `status` of a table with its name. */
const PLACES: Readonly<Record<string, readonly [table: string, column: string, otherRows?: string]>> = {
  kyc: ['customers', 'kyc_status'],
  pairing: ['sessions', 'status', "(kind <> 'pairing'::text) OR "],
  representative: ['onboarding_representatives', 'status'],
  session: ['sessions', 'status', "(kind <> 'device'::text) OR "],
}

const placeOf = (name: string): readonly [table: string, column: string, otherRows?: string] =>
  PLACES[name] ?? [
    `${name}s`
      .replace(/ys$/, 'ies')
      .replace(/^persons$/, 'people')
      .replaceAll('-', '_'),
    'status',
  ]

describe('the status constraint of', () => {
  test.each(all.flatMap(area => area.machines))(
    '$name lists the states of its state machine',
    async ({ name, states }) => {
      const [table, column, otherRows = ''] = placeOf(name)
      const [check] = await service.sql<{ definition: string }>(
        `select pg_get_constraintdef(oid) as definition from pg_constraint
       where conrelid = $1::regclass and contype = 'c' and pg_get_constraintdef(oid) like $2`,
        [table, `CHECK (${otherRows && '('}${otherRows}(${column} = ANY%`],
      )
      const allowed = [...(check?.definition ?? '').replace(otherRows, '').matchAll(/'(\w+)'/g)].map(
        ([, state]) => state,
      )
      expect(new Set(allowed)).toEqual(new Set(states))
    },
  )
})

/** Queues processed for all owners at once; the platform's own files; entries of accounts. */
const FOUND_WITHOUT_OWNER = [
  'deadlines',
  'deliveries',
  'ledger_entries',
  'outbox',
  'sepa_files',
  'sepa_messages',
]

test('the primary key of every table of tenants begins with the tenant', async () => {
  const rows = await service.sql<{ name: string }>(
    `select c.table_name as name from information_schema.columns c
     where c.column_name = 'mode' and c.table_schema = 'public' and not exists (
       select from pg_index i where i.indrelid = c.table_name::regclass and i.indisprimary
         and pg_get_indexdef(i.indexrelid) ~ '\\(owner_id, mode')`,
  )
  expect(rows.map(({ name }) => name).sort()).toEqual(FOUND_WITHOUT_OWNER)
})

test('the pictures of docs/reference/data-model.md have the columns and references of the database', async () => {
  const tables = [...tablesOfMigrations().values()]
  const columns = await service.sql<{ column: string }>(
    `select table_name || '.' || column_name as column from information_schema.columns c
     where table_schema = 'public' and table_name not in (select inhrelid::regclass::text from pg_inherits)`,
  )
  expect(
    tables.flatMap(({ name, columns }) => [...columns.keys()].map(column => `${name}.${column}`)).sort(),
  ).toEqual(columns.map(({ column }) => column).sort())
  const references = await service.sql<{ reference: string }>(
    `select conrelid::regclass || '(' || (select string_agg(attname, ',' order by place)
       from unnest(conkey) with ordinality as k (number, place)
       join pg_attribute on attrelid = conrelid and attnum = k.number) || ') ' || confrelid::regclass as reference
     from pg_constraint where contype = 'f' and conparentid = 0`,
  )
  expect(
    tables
      .flatMap(({ name, references }) =>
        references.map(({ columns, table }) => `${name}(${columns}) ${table}`),
      )
      .sort(),
  ).toEqual(references.map(({ reference }) => reference).sort())
})

test('no two indexes of a table hold the same', async () => {
  const rows = await service.sql<{ name: string }>(
    `select a.indexrelid::regclass::text as name from pg_index a
     join pg_index b on b.indrelid = a.indrelid and b.indexrelid < a.indexrelid and b.indkey = a.indkey
       and pg_get_expr(b.indexprs, b.indrelid) is not distinct from pg_get_expr(a.indexprs, a.indrelid)
       and pg_get_expr(b.indpred, b.indrelid) is not distinct from pg_get_expr(a.indpred, a.indrelid)
     join pg_class t on t.oid = a.indrelid and t.relnamespace = 'public'::regnamespace`,
  )
  expect(rows).toEqual([])
})

test('a PostgreSQL older than 18 is refused by its version, a later one is accepted', () => {
  expect(() => requirePostgresVersion('17.6 (Debian 17.6-1)')).toThrow(
    'PostgreSQL 17.6 (Debian 17.6-1); it must be 18',
  )
  expect(() => requirePostgresVersion('18.4')).not.toThrow()
  expect(() => requirePostgresVersion('19beta1')).not.toThrow()
})

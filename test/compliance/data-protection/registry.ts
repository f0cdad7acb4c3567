import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { personalDataOf } from '../../../src/derive/personal-areas.ts'
import { type Area, area } from '../../../src/kernel/contract/area.ts'
import { personalTableOf } from '../../../src/kernel/database/personal.ts'
import {
  nonPersonalColumns,
  type PersonalAddition,
  type PersonalTable,
} from '../../../src/values/personal.ts'
import { service } from './service.ts'

const named = new Map<string, PersonalTable>(
  [...personalDataOf(areas).values()].flatMap(personal => Object.entries(personal)),
)

/** Every column whose type can contain free text; for partitions only the partitioned table. */
const COLUMNS = `
select c.relname as table, a.attname as column, t.typname ~ '^_?(text|json|jsonb|varchar|bytea)$' as "isText"
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`

const columns = await service.sql<{ table: string; column: string; isText: boolean }>(COLUMNS)

const tablesOf = ({ entities, personal }: Area): string[] => [
  ...entities.map(entity => personalTableOf(entity)[0]),
  ...Object.keys(personal),
]

const namesIn = ({ personal, plain, secret = [] }: PersonalTable): string[] => [
  ...Object.keys(personal),
  ...plain,
  ...secret,
]

/** A table to which areas add these. */
function tableWith(table: PersonalTable, ...additions: PersonalAddition[]): PersonalTable | undefined {
  const empty = area('Empty', 'Nothing.', {} as never)
  const adding = additions.map(addition => ({ ...empty, personalAdditions: { things: addition } }))
  const given = { ...adding, own: { ...empty, personal: { things: table } } } as unknown as typeof areas
  return [...personalDataOf(given).values()][0]?.things
}

/** Their nouns have no area, and must not name the area that opens their entities. */
const OF_NOUNS_BELOW: readonly string[] = ['recorded_approvals']

describe('the register of personal data', () => {
  test('names each column that can hold a text', () => {
    const missing = columns.filter(({ table, column, isText }) => {
      const known = named.get(table)
      return isText && !nonPersonalColumns.includes(column) && !(known && namesIn(known).includes(column))
    })
    // Say of these what they hold: at the column of the entity, by `personal`, `plain` or `secret`; without an entity in the
    // `personal` of the area.
    expect(missing.map(({ table, column }) => `${table}.${column}`)).toEqual([])
  })

  test('names no table and no column that does not exist, and none twice', () => {
    const existing = new Set(columns.map(({ table, column }) => `${table}.${column}`))
    const all = [...named].flatMap(([table, entry]) => namesIn(entry).map(column => `${table}.${column}`))
    expect(all.filter(column => !existing.has(column))).toEqual([])
    expect(all).toHaveLength(new Set(all).size)
  })

  test('is added to only for tables of other areas', () => {
    for (const one of Object.values<Area>(areas))
      for (const table of Object.keys(one.personalAdditions)) {
        expect([...named.keys()]).toContain(table)
        expect(tablesOf(one).filter(own => !OF_NOUNS_BELOW.includes(own))).not.toContain(table)
      }
  })

  test('keeps what one area says was paid, and joins whom a table is about, in whichever order areas add to it', () => {
    const table = { personal: {}, plain: [], about: { person: ['a'] }, keptWhile: { words: 'it was paid' } }
    const one = { paid: 'p', about: { person: ['b'] } }
    const other = { unpaid: 'u', about: { beneficiary: ['c'] } }
    const about = { person: ['a', 'b'], beneficiary: ['c'] }
    const keptWhile = { where: '((true) and (not (u))) or (p)', words: 'it was paid' }
    expect(tableWith(table, one, other)).toEqual({ ...table, about, keptWhile })
    expect(tableWith(table, other, one)).toEqual({ ...table, about, keptWhile })
  })

  test('keeps a record about another noun while that noun says so', () => {
    const about = { keptWhile: { where: 'k', words: 'its intent was paid' } }
    const { keptWhile } = tableWith({ personal: {}, plain: [] }, { paid: 'p' }, about) ?? {}
    expect(keptWhile).toEqual({ where: '((k)) or (p)', words: 'its intent was paid' })
  })

  test('has each table once: an entity says what its table holds, and its area does not repeat it', () => {
    const tables = Object.values<Area>(areas).flatMap(tablesOf)
    expect(tables).toHaveLength(new Set(tables).size)
  })

  test.each([...named])('finds what %s holds about a subject by columns that it has', (table, entry) => {
    const own = columns.filter(column => column.table === table).map(({ column }) => column)
    const owner = entry.owner === null ? [] : [entry.owner ?? 'owner_id']
    const about = Object.values(entry.about ?? {})
      .flat()
      .filter(place => !place.startsWith('('))
    const needed = [...owner, ...about.map(place => place.split(' ')[0] ?? ''), ...(entry.files ?? [])]
    const holdsNothing = Object.keys(entry.personal).length === 0
    expect(needed.filter(column => !own.includes(column) && !holdsNothing)).toEqual([])
  })
})

import { afterAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import {
  type RecordCondition,
  RecordStore,
  runPreparedStatement,
  type Sql,
  sqlCondition,
} from '../../src/record-store/index.ts'
import { cloneDatabase } from '../support/database.ts'
import { NOTES, Note, type Scope } from './note.ts'

const pool = new pg.Pool({ connectionString: await cloneDatabase(), pipeline: true })
afterAll(() => pool.end())
await pool.query(NOTES)

interface Sent {
  readonly text: string
  readonly values: readonly unknown[]
}

/** A store for one owner that also says what it sends. */
function openStore({ ownerId = 'owner_records', authorId = null as string | null, readOnly = false } = {}) {
  const sent: Sent[] = []
  const sql: Sql = async (text, values = []) => {
    sent.push({ text, values })
    return (await runPreparedStatement(pool, text, values)) as never[]
  }
  const store = new RecordStore<Scope>(sql, { readOnly })
  store.scope = { ownerId, mode: 'test', authorId, now: new Date(0) }
  return { store, sent }
}

async function createNote(
  members: { name: string; description?: string | null },
  ownerId?: string,
): Promise<Note> {
  const { store } = openStore(ownerId ? { ownerId } : {})
  const note = store.create(Note, members)
  await store.flush()
  return note
}

describe('a record that is created', () => {
  test('has its id, its tenant and its defaults at once', () => {
    const note = openStore().store.create(Note, { name: 'A' })
    expect(note).toMatchObject({
      ownerId: 'owner_records',
      mode: 'test',
      authorId: 'anonymous',
      description: null,
      labels: [],
    })
    expect(note.id).toMatch(/^note_/)
    expect(note.createdAt).toEqual(new Date(0))
  })

  test('is found as the same object before it is written', async () => {
    const { store, sent } = openStore()
    const note = store.create(Note, { name: 'A' })
    expect(await store.findOne(Note, { id: note.id })).toBe(note)
    expect(sent).toEqual([])
  })

  test('is not written if it is removed before', async () => {
    const { store, sent } = openStore()
    store.remove(store.create(Note, { name: 'A' }))
    await store.flush()
    expect(sent).toEqual([])
  })

  test('throws where nothing may be written', () => {
    const { store } = openStore({ readOnly: true })
    expect(() => store.create(Note, { name: 'A' })).toThrow('a read creates no records')
  })
})

describe('a record that is found', () => {
  test('is one object however often it is found', async () => {
    const { id } = await createNote({ name: 'Twice' })
    const { store } = openStore()
    const note = await store.findOne(Note, { name: 'Twice' })
    expect(await store.findOne(Note, { id })).toBe(note)
    expect(await store.lock(Note, id)).toBe(note)
    expect((await store.find(Note, { name: 'Twice' }))[0]).toBe(note)
  })

  test('has the row of now once it is locked', async () => {
    const { id } = await createNote({ name: 'Before' })
    const { store } = openStore()
    const note = await store.findOneOrFail(Note, { id })
    await pool.query(`update notes set name = 'After' where id = $1`, [id])
    expect((await store.findOneOrFail(Note, { id })).name).toBe('Before')
    await store.lock(Note, id)
    expect(note.name).toBe('After')
  })

  test('is not locked twice, and keeps its changes', async () => {
    const { id } = await createNote({ name: 'Held' })
    const { store, sent } = openStore()
    const note = (await store.lock(Note, id)) as Note
    note.name = 'Changed'
    expect(await store.lock(Note, id)).toBe(note)
    expect(sent).toHaveLength(1)
    expect(await store.find(Note, { id }, { lock: true })).toEqual([note])
    const { id: otherId } = store.create(Note, { name: 'New' })
    expect(await store.lock(Note, otherId)).toMatchObject({ name: 'New' })
    expect([note.name, sent.length]).toEqual(['Changed', 2])
  })

  test('is not read without a tenant, and not found by another one', async () => {
    const { id } = await createNote({ name: 'Own' })
    const { store } = openStore({ ownerId: 'owner_other' })
    expect(await store.findOne(Note, { id })).toBeNull()
    expect(await store.count(Note, { id })).toBe(0)
    store.scope = undefined
    await expect(store.findOne(Note, { id })).rejects.toThrow('notes is read for no tenant')
  })

  test('is not taken for the record of another owner that has the same id', async () => {
    const { store } = openStore()
    const own = store.create(Note, { name: 'Own' })
    store.scope = openStore({ ownerId: 'owner_other' }).store.scope
    expect(await store.findOne(Note, { id: own.id })).toBeNull()
    const other = store.create(Note, { id: own.id, name: 'Other' })
    expect(await store.findOne(Note, { id: own.id })).toBe(other)
  })
})

describe('what a request reaches', () => {
  /** Conditions that would find every row of the table if the reach were not joined by `and`. */
  const conditions: readonly RecordCondition<Note>[] = [
    {},
    sqlCondition('true'),
    { $or: [sqlCondition('true'), { ownerId: 'owner_reach' }] },
    { ownerId: 'owner_reach', mode: 'test' },
    sqlCondition('true or owner_id = ?', ['owner_reach']),
  ]

  test.each([
    ['another owner', { ownerId: 'owner_outside' }],
    ['another author of the owner', { ownerId: 'owner_reach', authorId: 'author_other' }],
  ])('is no record of %s, by any method and condition', async (_, scope) => {
    const { id } = await createNote({ name: 'Private' }, 'owner_reach')
    for (const condition of conditions) {
      const { store } = openStore(scope)
      expect(await store.find(Note, condition)).toEqual([])
      expect(await store.find(Note, condition, { lock: true })).toEqual([])
      expect(await store.findOne(Note, condition)).toBeNull()
      await expect(store.findOneOrFail(Note, condition)).rejects.toThrow('there is no Note')
      expect(await store.count(Note, condition)).toBe(0)
      expect(await store.lock(Note, id)).toBeNull()
    }
  })

  test('is refused where no scope is bound, by any method', async () => {
    const { store } = openStore()
    store.scope = undefined
    const reads = [
      () => store.find(Note, {}),
      () => store.findOne(Note, {}),
      () => store.findOneOrFail(Note, {}),
      () => store.lock(Note, 'note_1'),
      () => store.count(Note),
    ]
    for (const read of reads) await expect(read()).rejects.toThrow('notes is read for no tenant')
  })

  test('finds the row of a record whose owner is changed by the owner that the row has', async () => {
    const { id } = await createNote({ name: 'Kept' }, 'owner_kept')
    const { store } = openStore({ ownerId: 'owner_kept' })
    const note = await store.findOneOrFail(Note, { id })
    note.ownerId = 'owner_taken'
    await store.flush()
    expect(await openStore({ ownerId: 'owner_kept' }).store.count(Note, { id })).toBe(0)
    expect(await openStore({ ownerId: 'owner_taken' }).store.count(Note, { id })).toBe(1)
  })
})

describe('a flush', () => {
  test('sends nothing where nothing has changed', async () => {
    const { id } = await createNote({ name: 'Same' })
    const { store, sent } = openStore()
    const note = await store.findOneOrFail(Note, { id })
    note.name = 'Other'
    note.name = 'Same'
    await store.flush()
    expect(sent).toHaveLength(1)
  })

  test('writes the members that have changed, and when', async () => {
    const { id } = await createNote({ name: 'Changed' })
    const { store, sent } = openStore()
    if (store.scope) store.scope = { ...store.scope, now: new Date(5_000) }
    const note = await store.findOneOrFail(Note, { id })
    note.name = 'Renamed'
    await store.flush()
    expect(sent[1]?.text).toMatch(/^update notes set (updated_at|name) = \$4, (updated_at|name) = \$5 where/)
    expect(note.updatedAt).toEqual(new Date(5_000))
    await store.flush()
    expect(sent).toHaveLength(2)
    expect(await openStore().store.findOne(Note, { id })).toMatchObject({
      name: 'Renamed',
      updatedAt: new Date(5_000),
    })
  })

  test('writes an object that was changed in place', async () => {
    const { id } = await createNote({ name: 'Metadata' })
    const { store } = openStore()
    const note = await store.findOneOrFail(Note, { id })
    note.metadata.colour = 'green'
    await store.flush()
    expect(await openStore().store.findOne(Note, { id })).toMatchObject({ metadata: { colour: 'green' } })
  })

  test('writes many records of a kind in one statement', async () => {
    const { store, sent } = openStore({ ownerId: 'owner_many' })
    for (const name of ['a', 'b', 'c']) store.create(Note, { name })
    await store.flush()
    expect(sent).toHaveLength(1)
    expect(await store.count(Note)).toBe(3)
  })

  test('deletes what was removed', async () => {
    const { store } = openStore({ ownerId: 'owner_removing' })
    const note = store.create(Note, { name: 'Short-lived' })
    await store.flush()
    store.remove(note)
    await store.flush()
    expect(await store.findOne(Note, { id: note.id })).toBeNull()
    expect(() => store.remove(note)).toThrow('only a record that this transaction has read')
  })
})

describe('a condition', () => {
  const names = ['anna', 'Bert', "o'hara", '%', '']
  const descriptions = ['x', 'y', null]
  const name = fc.constantFrom(...names)
  const leaf = fc.oneof(
    name.map(wanted => ({ name: wanted })),
    name.map(wanted => ({ name: { $ne: wanted } })),
    fc.subarray(names).map(wanted => ({ name: { $in: wanted } })),
    fc.constantFrom(...descriptions).map(wanted => ({ description: wanted })),
    fc.constant({ description: { $ne: null } }),
    name.map(wanted => sqlCondition('lower(name) = lower(?)', [wanted])),
  )
  const { condition } = fc.letrec<{ condition: object }>(tie => ({
    condition: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('condition'), { maxLength: 3 }).map($and => ({ $and })),
      fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map($or => ({ $or })),
    ),
  }))

  function isMet(wanted: object, note: Note): boolean {
    return Object.entries(wanted).every(([key, value]) => {
      if (key === '$and') return value.every((part: object) => isMet(part, note))
      if (key === '$or') return value.some((part: object) => isMet(part, note))
      if (key.startsWith('(')) return note.name.toLowerCase() === value[0].toLowerCase()
      const member = note[key as 'name' | 'description']
      if (value === null || typeof value !== 'object') return member === value
      if ('$in' in value) return value.$in.includes(member)
      return member !== value.$ne
    })
  }

  test('finds the records that JavaScript would, by a text without a value', async () => {
    const ownerId = 'owner_conditions'
    const { store } = openStore({ ownerId })
    for (const [index, noteName] of names.entries())
      await createNote({ name: noteName, description: descriptions[index % 3] ?? null }, ownerId)
    const notes = await store.find(Note, {})
    await fc.assert(
      fc.asyncProperty(condition, async wanted => {
        const reading = openStore({ ownerId, readOnly: true })
        const found = await reading.store.find(Note, wanted as RecordCondition<Note>, {
          orderBy: { id: 'asc' },
        })
        const expected = notes.filter(note => isMet(wanted, note))
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id).toSorted())
        expect(reading.sent[0]?.text).not.toMatch(/anna|Bert|hara|'x'/)
      }),
      { numRuns: 100 },
    )
  })

  test('throws for what is no column, is unknown or undefined', async () => {
    const { store } = openStore()
    const find = (wanted: object) => store.find(Note, wanted as RecordCondition<Note>)
    await expect(find({ colour: 1 })).rejects.toThrow('names colour, which is no column')
    await expect(find({ name: { $regex: 'a' } })).rejects.toThrow('the unknown operator $regex')
    await expect(find({ name: undefined })).rejects.toThrow('a condition on name is undefined')
  })
})

describe('a source of rows', () => {
  test('is read in its own order, and only as far as the caller reaches', async () => {
    const ownerId = 'owner_source'
    for (const name of ['Ada', 'Bea', 'Cleo']) await createNote({ name }, ownerId)
    await createNote({ name: 'Of another owner' })
    const { store, sent } = openStore({ ownerId })
    const sql = 'select *, length(name) as letters from notes where name <> ? offset 0'
    const source = { sql, values: ['Bea'], orderBy: 'letters desc, name' }
    const found = await store.find(Note, { name: { $ne: 'Cleo' } }, { source, limit: 5 })
    expect(found.map(({ name }) => name)).toEqual(['Ada'])
    const all = await store.find(Note, {}, { source, limit: 5 })
    expect(all.map(({ name }) => name)).toEqual(['Cleo', 'Ada'])
    expect(sent[1]?.values).toEqual(['Bea', ownerId, 'test', 5])
  })
})

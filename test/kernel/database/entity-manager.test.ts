import { afterAll, describe, expect, test } from '@jest/globals'
import { type FilterQuery, LockMode, raw } from '@mikro-orm/core'
import fc from 'fast-check'
import pg from 'pg'
import { contains, inRange, sqlCondition, startsWith } from '../../../src/kernel/contract/conditions.ts'
import type { EntityManager } from '../../../src/kernel/contract/entity-manager.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import type { RecordScope } from '../../../src/kernel/database/entity.ts'
import type { TenantEntityManager } from '../../../src/kernel/database/entity-manager.ts'
import { openEntityManager, openOrm } from '../../../src/kernel/database/orm.ts'
import { runPreparedStatement } from '../../../src/kernel/database/pipeline.ts'
import { cloneDatabase } from '../../support/database.ts'
import { HandedNote, NOTES, Note } from './note.ts'

const pool = new pg.Pool({ connectionString: await cloneDatabase(), pipeline: true })
afterAll(() => pool.end())
await pool.query(NOTES)
// What an operator's environment may hold: MikroORM would take it over.
Object.assign(process.env, { MIKRO_ORM_BATCH_SIZE: 'abc', MIKRO_ORM_FORCE_UNDEFINED: 'true' })
openOrm([Note, HandedNote])

const keyOf = ({ id, ownerId, mode }: { id: string; ownerId: string; mode: string }) =>
  ({ id, ownerId, mode }) as never

const storedNote = (note: object): object => ({
  description: null,
  authorId: 'author',
  cents: 0n,
  labels: [],
  metadata: {},
  createdAt: new Date(0),
  updatedAt: new Date(0),
  ...note,
})

interface Sent {
  readonly text: string
  readonly values: readonly unknown[]
}

const scopeFor = (ownerId: string, agentId: string | null = null): RecordScope => ({
  ownerId,
  mode: 'test',
  agentId,
  delegationId: null,
  now: new Date(0),
})

/** The entity manager of one owner, which also says what it sends. */
function openManager({
  ownerId = 'owner_records',
  authorId = null as string | null,
  isReadOnly = false,
} = {}) {
  const sent: Sent[] = []
  const sql: Sql = async (text, values = []) => {
    sent.push({ text, values })
    return (await runPreparedStatement(pool, text, values)) as never[]
  }
  const em = openEntityManager(sql, { isReadOnly })
  em.scope = scopeFor(ownerId, authorId)
  return { em, store: em as TenantEntityManager & EntityManager, sql, sent }
}

async function createNote(
  members: { name: string; description?: string | null },
  ownerId?: string,
): Promise<Note> {
  const { store } = openManager(ownerId ? { ownerId } : {})
  const note = store.create(Note, members)
  await store.flush()
  return note
}

describe('a record that is created', () => {
  test('has its id, its tenant and its defaults at once', () => {
    const note = openManager().store.create(Note, { name: 'A' })
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
    const { store, sent } = openManager()
    const note = store.create(Note, { name: 'A' })
    expect(await store.findOne(Note, { id: note.id })).toBe(note)
    expect(sent).toEqual([])
  })

  test('is not written if it is removed before', async () => {
    const { store, sent } = openManager()
    store.remove(store.create(Note, { name: 'A' }))
    await store.flush()
    expect(sent).toEqual([])
  })

  test('throws where nothing may be written', () => {
    const { store } = openManager({ isReadOnly: true })
    expect(() => store.create(Note, { name: 'A' })).toThrow('a read creates no records')
  })
})

describe('a record that is found', () => {
  test('is one object however often it is found', async () => {
    const { id } = await createNote({ name: 'Twice' })
    const { store } = openManager()
    const note = await store.findOne(Note, { name: 'Twice' })
    expect(await store.findOne(Note, { id })).toBe(note)
    expect(await store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })).toBe(note)
    expect((await store.find(Note, { name: 'Twice' }))[0]).toBe(note)
  })

  test('is only a row in a read, which changes nothing: thousands cost a tenth of records', async () => {
    const { id } = await createNote({ name: 'Read' })
    const { em, store } = openManager({ isReadOnly: true })
    const [one] = await store.find(Note, { id })
    const [again] = await store.find(Note, { id })
    expect(one).toBeInstanceOf(Note)
    expect(again).toEqual(one)
    expect(again).not.toBe(one)
    expect(em.getUnitOfWork().getIdentityMap().values()).toEqual([])
  })

  test('has the row of now once it is locked', async () => {
    const { id } = await createNote({ name: 'Before' })
    const { store } = openManager()
    const note = await store.findOneOrFail(Note, { id })
    await pool.query(`update notes set name = 'After' where id = $1`, [id])
    expect((await store.findOneOrFail(Note, { id })).name).toBe('Before')
    await store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    expect(note.name).toBe('After')
  })

  test('is locked before what is sent after it: orders of locks are those of the calls', async () => {
    const { id } = await createNote({ name: 'First' })
    const { store, sql, sent } = openManager()
    await Promise.all([
      store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
      sql('select 1'),
      store.find(Note, { name: 'First' }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
      sql('select 2'),
    ])
    expect(sent.map(({ text }) => (text.includes('for no key update') ? 'lock' : text))).toEqual([
      'lock',
      'select 1',
      'lock',
      'select 2',
    ])
  })

  test('is not locked twice, and keeps its changes', async () => {
    const { id } = await createNote({ name: 'Held' })
    const { store, sent } = openManager()
    const note = (await store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })) as Note
    note.name = 'Changed'
    expect(await store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })).toBe(note)
    expect(sent).toHaveLength(1)
    expect(await store.find(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })).toEqual([note])
    const { id: otherId } = store.create(Note, { name: 'New' })
    expect(
      await store.findOne(Note, { id: otherId }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    ).toMatchObject({ name: 'New' })
    expect([note.name, sent.length]).toEqual(['Changed', 2])
  })

  test('is not locked once it is changed, which would be forgotten', async () => {
    const { id } = await createNote({ name: 'Free' })
    const { store } = openManager()
    const note = await store.findOneOrFail(Note, { id })
    note.name = 'Changed'
    await expect(store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })).rejects.toThrow(
      'notes: a record is locked before it is changed',
    )
    await store.flush()
    expect(await store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })).toBe(note)
    expect(note.name).toBe('Changed')
  })

  test('is not read without a tenant, and not found by another one', async () => {
    const { id } = await createNote({ name: 'Own' })
    const { em, store } = openManager({ ownerId: 'owner_other' })
    expect(await store.findOne(Note, { id })).toBeNull()
    expect(await store.count(Note, { id })).toBe(0)
    em.scope = undefined
    await expect(store.findOne(Note, { id })).rejects.toThrow('notes is read for no tenant')
  })

  test('is not taken for the record of another owner that has the same id', async () => {
    const { em, store } = openManager()
    const own = store.create(Note, { name: 'Own' })
    em.scope = scopeFor('owner_other')
    expect(await store.findOne(Note, { id: own.id })).toBeNull()
    const other = store.create(Note, { id: own.id, name: 'Other' })
    expect(await store.findOne(Note, { id: own.id })).toBe(other)
  })
})

describe('what a request reaches', () => {
  /** Conditions that would find every row of the table if the reach were not joined by `and`. */
  const conditions: readonly FilterQuery<Note>[] = [
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
      const { store } = openManager(scope)
      expect(await store.find(Note, condition)).toEqual([])
      expect(await store.find(Note, condition, { lockMode: LockMode.PESSIMISTIC_WRITE })).toEqual([])
      expect(await store.findOne(Note, condition)).toBeNull()
      await expect(store.findOneOrFail(Note, condition)).rejects.toThrow('there is no Note')
      expect(await store.count(Note, condition)).toBe(0)
      expect(await store.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })).toBeNull()
    }
  })

  test('is refused where no scope is bound, by any method', async () => {
    const { em, store } = openManager()
    em.scope = undefined
    const reads = [
      () => store.find(Note, {}),
      () => store.findOne(Note, {}),
      () => store.findOneOrFail(Note, {}),
      () => store.findOne(Note, { id: 'note_1' }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
      () => store.count(Note),
    ]
    for (const read of reads) await expect(read()).rejects.toThrow('notes is read for no tenant')
  })

  test('finds the row of a record whose owner is changed by the owner that the row has', async () => {
    const { store } = openManager({ ownerId: 'owner_kept' })
    const members = { id: 'handed_1', mode: 'test', name: 'Kept' }
    const note = store.create(HandedNote, { ...members, ownerId: 'owner_kept' })
    await store.flush()
    note.ownerId = 'owner_taken'
    await store.flush()
    const owners = await pool.query('select owner_id from handed_notes where id = $1', ['handed_1'])
    expect(owners.rows).toEqual([{ owner_id: 'owner_taken' }])
  })
})

describe('a write of another tenant’s row', () => {
  const refusal = 'Note: a row of another owner or mode cannot be written'
  const otherNote = { id: 'note_other', ownerId: 'owner_victim', mode: 'test', name: 'Victim' }

  /** What the filters of MikroORM let through; handlers have no such methods. */
  const ways: readonly (readonly [string, (em: TenantEntityManager) => unknown])[] = [
    ['create', em => em.create(Note, otherNote as never)],
    ['create in the other mode', em => em.create(Note, { name: 'Live', mode: 'live' } as never)],
    ['persist', em => em.persist(em.create(Note, otherNote as never, { persist: false } as never))],
    ['getReference', em => Object.assign(em.getReference(Note, keyOf(otherNote)), { name: 'Taken' })],
    ['merge', em => Object.assign(em.merge(Note, storedNote(otherNote) as never), { name: 'Taken' })],
    ['map', em => Object.assign(em.map(Note, storedNote(otherNote) as never), { name: 'Taken' })],
    ['remove', em => em.remove(em.getReference(Note, keyOf(otherNote)))],
  ]

  test.each(ways)('is refused: %s', async (_, write) => {
    const { store: victim } = openManager({ ownerId: 'owner_victim' })
    if (!(await victim.findOne(Note, { id: otherNote.id }))) victim.create(Note, otherNote)
    await victim.flush()
    const { em, sent } = openManager({ ownerId: 'owner_thief' })
    write(em)
    await expect(em.flush()).rejects.toThrow(refusal)
    expect(sent).toEqual([])
  })

  test('is refused where a record is given to another owner, or many of them', async () => {
    const { store, em } = openManager({ ownerId: 'owner_giver' })
    const notes = ['a', 'b'].map(name => store.create(Note, { name }))
    await store.flush()
    for (const note of notes) note.ownerId = 'owner_victim'
    await expect(em.flush()).rejects.toThrow(refusal)
  })

  test('is refused by upsert and the native methods', async () => {
    const { em, sent } = openManager({ ownerId: 'owner_thief' })
    const { ownerId, mode, id } = otherNote
    for (const write of [
      () => em.upsert(Note, storedNote(otherNote) as never),
      () => em.nativeUpdate(Note, { ownerId, mode, id }, { name: 'Taken' }, { filters: false }),
      () => em.nativeDelete(Note, { ownerId, mode, id }, { filters: false }),
      () => em.insert(Note, storedNote(otherNote) as never),
    ])
      await expect(write()).rejects.toThrow()
    expect(sent).toEqual([])
  })
})

describe('a list of texts', () => {
  const labels = ['Null', 'NULL', '', ' ', ' padded ', 'a,b', 'a\tb', '"quoted"', 'back\\slash', '{}', 'ü😀']

  test('is stored as it is, in one row and in many, and is no change when it is found again', async () => {
    const { em } = openManager({ ownerId: 'owner_labels' })
    const [one, ...many] = ['one', 'two', 'three'].map(name => ({ name, labels }))
    em.create(Note, one as never)
    await em.flush()
    for (const note of many) em.create(Note, note as never)
    await em.flush()
    const { em: later, sent } = openManager({ ownerId: 'owner_labels' })
    const found = await later.find(Note, {})
    expect(found.map(note => note.labels)).toEqual([labels, labels, labels])
    await later.flush()
    expect(sent).toHaveLength(1)
    for (const note of found) note.labels = [...labels, 'null']
    await later.flush()
    const { em: last } = openManager({ ownerId: 'owner_labels' })
    expect((await last.find(Note, {})).map(note => note.labels.at(-1))).toEqual(['null', 'null', 'null'])
  })
})

describe('an option', () => {
  test('turns no filter off, and locks by one mode only', async () => {
    const { id } = await createNote({ name: 'Private' }, 'owner_private')
    const { em } = openManager({ ownerId: 'owner_curious' })
    const options = { filters: false } as never
    expect(await em.findOne(Note, { id }, options)).toBeNull()
    expect(await em.find(Note, {}, options)).toEqual([])
    await expect(em.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_READ })).rejects.toThrow(
      'LockMode',
    )
  })

  test('of the environment changes nothing', async () => {
    const pinned = ['batchSize', 'useBatchInserts', 'useBatchUpdates', 'forceUndefined'] as const
    const { em } = openManager()
    expect(pinned.map(name => em.config.get(name))).toEqual([300, true, true, false])
  })
})

describe('a flush', () => {
  test('sends nothing where nothing has changed', async () => {
    const { id } = await createNote({ name: 'Same' })
    const { store, sent } = openManager()
    const note = await store.findOneOrFail(Note, { id })
    note.name = 'Other'
    note.name = 'Same'
    await store.flush()
    expect(sent).toHaveLength(1)
  })

  test('writes the members that have changed, and when', async () => {
    const { id } = await createNote({ name: 'Changed' })
    const { em, store, sent } = openManager()
    em.scope = { ...scopeFor('owner_records'), now: new Date(5_000) }
    const note = await store.findOneOrFail(Note, { id })
    note.name = 'Renamed'
    await store.flush()
    expect(sent[1]?.text).toMatch(/^update notes set (updated_at|name) = \$4, (updated_at|name) = \$5 where/)
    expect(note.updatedAt).toEqual(new Date(5_000))
    await store.flush()
    expect(sent).toHaveLength(2)
    expect(await openManager().store.findOne(Note, { id })).toMatchObject({
      name: 'Renamed',
      updatedAt: new Date(5_000),
    })
  })

  test('writes an object that was changed in place', async () => {
    const { id } = await createNote({ name: 'Metadata' })
    const { store } = openManager()
    const note = await store.findOneOrFail(Note, { id })
    note.metadata.colour = 'green'
    await store.flush()
    expect(await openManager().store.findOne(Note, { id })).toMatchObject({ metadata: { colour: 'green' } })
  })

  test('writes many records of a kind in one statement', async () => {
    const { store, sent } = openManager({ ownerId: 'owner_many' })
    for (const name of ['a', 'b', 'c']) store.create(Note, { name })
    await store.flush()
    expect(sent).toHaveLength(1)
    expect(await store.count(Note)).toBe(3)
  })

  test('deletes what was removed', async () => {
    const { store } = openManager({ ownerId: 'owner_removing' })
    const note = store.create(Note, { name: 'Short-lived' })
    await store.flush()
    store.remove(note)
    await store.flush()
    expect(await store.findOne(Note, { id: note.id })).toBeNull()
  })
})

interface Wanted {
  readonly condition: FilterQuery<Note>
  /** What the condition says, in JavaScript. */
  readonly isMet: (note: Note) => boolean
}

describe('a condition', () => {
  const names = ['anna', 'Bert', "o'hara", '%', '']
  const descriptions = ['x', 'y', null]
  const anyName = fc.constantFrom(...names)
  const leaf = fc.oneof<fc.Arbitrary<Wanted>[]>(
    anyName.map(wanted => ({ condition: { name: wanted }, isMet: ({ name }) => name === wanted })),
    anyName.map(wanted => ({ condition: { name: { $ne: wanted } }, isMet: ({ name }) => name !== wanted })),
    fc.subarray(names).map(wanted => ({
      condition: { name: { $in: wanted } },
      isMet: ({ name }) => wanted.includes(name),
    })),
    fc.constantFrom(...descriptions).map(wanted => ({
      condition: { description: wanted },
      isMet: ({ description }) => description === wanted,
    })),
    fc.constant({
      condition: { description: { $ne: null } },
      isMet: ({ description }: Note) => description !== null,
    }),
    fc.tuple(anyName, anyName).map(([from, to]) => ({
      condition: { name: inRange({ gte: from, lt: to }) },
      isMet: ({ name }) => name >= from && name < to,
    })),
    anyName.map(wanted => ({
      condition: { name: inRange({ gt: wanted, lte: undefined }) },
      isMet: ({ name }) => name > wanted,
    })),
    anyName.map(wanted => ({
      condition: { name: startsWith(wanted.slice(0, 2)) },
      isMet: ({ name }) => name.startsWith(wanted.slice(0, 2)),
    })),
    anyName.map(wanted => ({
      condition: { name: contains(wanted.slice(1).toUpperCase()) },
      isMet: ({ name }) => name.toUpperCase().includes(wanted.slice(1).toUpperCase()),
    })),
    fc.tuple(anyName, anyName).map(([wanted, other]) => ({
      condition: {
        ...sqlCondition('lower(name) = lower(?)', [wanted]),
        ...sqlCondition('lower(name) = lower(?)', [other]),
      },
      isMet: ({ name }) => [wanted, other].every(one => one.toLowerCase() === name.toLowerCase()),
    })),
  )
  const { wanted: anyWanted } = fc.letrec<{ wanted: Wanted }>(tie => ({
    wanted: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('wanted'), { maxLength: 3 }).map(parts => ({
        condition: { $and: parts.map(({ condition }) => condition) },
        isMet: (note: Note) => parts.every(({ isMet }) => isMet(note)),
      })),
      fc.array(tie('wanted'), { minLength: 1, maxLength: 3 }).map(parts => ({
        condition: { $or: parts.map(({ condition }) => condition) },
        isMet: (note: Note) => parts.some(({ isMet }) => isMet(note)),
      })),
    ),
  }))

  test('finds the records that JavaScript would, by a text without a value', async () => {
    const ownerId = 'owner_conditions'
    const { store } = openManager({ ownerId })
    for (const [index, noteName] of names.entries())
      await createNote({ name: noteName, description: descriptions[index % 3] ?? null }, ownerId)
    const notes = await store.find(Note, {})
    await fc.assert(
      fc.asyncProperty(anyWanted, async ({ condition, isMet }) => {
        const reading = openManager({ ownerId, isReadOnly: true })
        const found = await reading.store.find(Note, condition, { orderBy: { id: 'asc' } })
        const expected = notes.filter(isMet)
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id).toSorted())
        expect(await reading.em.count(Note, condition)).toBe(found.length)
        expect(reading.sent[0]?.text).not.toMatch(/anna|Bert|hara|'x'/)
      }),
      { numRuns: 200 },
    )
  })

  test('in SQL beside an id is not forgotten where the record is known', async () => {
    const { store } = openManager()
    const { id } = store.create(Note, { name: 'Known' })
    await store.flush()
    expect(await store.findOne(Note, { id, ...sqlCondition('false') })).toBeNull()
  })

  test('throws for what is no column, or undefined', async () => {
    const { store } = openManager()
    const find = (wanted: object) => store.find(Note, wanted as FilterQuery<Note>)
    await expect(find({ colour: 1 })).rejects.toThrow('not existing property Note.colour')
    await expect(find({ name: undefined })).rejects.toThrow('a condition on name is undefined')
  })

  test('has no SQL that came as JSON', async () => {
    const { store, sent } = openManager()
    await expect(store.find(Note, JSON.parse('{"(true)":[]}'))).rejects.toThrow('not existing property')
    expect(sent).toEqual([])
  })

  test('has only typed values and comparisons', () => {
    const unread: unknown = ''
    const conditions: readonly FilterQuery<Note>[] = [
      { name: { $ne: 'anna' }, description: { $in: ['x'] }, createdAt: inRange({ lt: new Date(0) }) },
      // @ts-expect-error: nor is one that has the members of a comparison
      { name: { operators: { $ne: '' } } },
      // @ts-expect-error: an unknown value must be read first
      { name: unread },
      // @ts-expect-error: a comparison with another type
      { name: { $in: [1] } },
      // @ts-expect-error: SQL is no key
      { '(true)': [] },
    ]
    expect(conditions).toHaveLength(5)
  })
})

describe('a filter', () => {
  const ownerId = 'owner_filters'

  /** The entity manager as handlers see it. */
  const open = (): EntityManager => openManager({ ownerId }).em as unknown as EntityManager

  async function namesBy(where: FilterQuery<Note>): Promise<string[]> {
    const { em } = openManager({ ownerId })
    const records = await em.find(Note, where, { orderBy: { name: 'asc' } })
    const rows = await em.rows(Note, where as object, { orderBy: { name: 'asc' } })
    expect(rows.map(({ id }) => id)).toEqual(records.map(({ id }) => id))
    expect(await em.count(Note, where)).toBe(records.length)
    return records.map(({ name }) => name)
  }

  test('finds by MikroORM’s operators and fragments of SQL, records and rows alike', async () => {
    for (const name of ['Ada', 'Bea', 'Cleo']) await createNote({ name }, ownerId)
    await createNote({ name: 'Dora', description: 'Long' }, ownerId)
    expect(await namesBy({ name: { $in: ['Ada', 'Dora'] } })).toEqual(['Ada', 'Dora'])
    expect(await namesBy({ name: { $gte: 'Bea', $lt: 'Dora' } })).toEqual(['Bea', 'Cleo'])
    expect(await namesBy({ name: { $nin: ['Ada'] }, description: null })).toEqual(['Bea', 'Cleo'])
    expect(await namesBy({ description: { $ne: null } })).toEqual(['Dora'])
    expect(await namesBy({ $or: [{ name: { $like: 'A%' } }, { name: { $ilike: 'b%' } }] })).toEqual([
      'Ada',
      'Bea',
    ])
    expect(await namesBy({ [raw('length(name) = ?', [3])]: [], name: { $ne: 'Ada' } })).toEqual(['Bea'])
    expect(await namesBy({ [raw('lower(name)')]: 'cleo' })).toEqual(['Cleo'])
    expect(await namesBy({ [raw('lower(description)')]: null, name: { $gt: 'Bea' } })).toEqual(['Cleo'])
    expect(await namesBy({ [raw('lower(name)')]: { $in: ['ada', 'cleo'] } })).toEqual(['Ada', 'Cleo'])
    expect(await namesBy({ [raw('left(name, ?)', [1])]: { $gt: 'A', $lte: 'C' } })).toEqual(['Bea', 'Cleo'])
  })

  test('is refused where a bound is undefined, which SQL would take for null', async () => {
    const bounds = { $gte: undefined, $lt: 'Bea' } as unknown as { $lt: string }
    for (const where of [{ name: bounds }, { $or: [{ name: bounds }] }])
      await expect(open().find(Note, where)).rejects.toThrow('a condition on $gte is undefined')
  })

  test('locks, reads anew and removes as MikroORM does', async () => {
    const { id } = await createNote({ name: 'Eve' }, ownerId)
    const em = open()
    const note = await em.findOneOrFail(Note, { id })
    await pool.query(`update notes set name = 'Eva' where id = $1`, [id])
    expect(await em.findOne(Note, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })).toBe(note)
    expect(note.name).toBe('Eva')
    em.remove(note)
    await em.flush()
    expect(await open().findOne(Note, { id })).toBeNull()
  })

  test('has only values of the member’s type', () => {
    const unread: unknown = ''
    const filters: readonly FilterQuery<Note>[] = [
      { name: { $ne: 'anna' }, description: null, createdAt: { $lt: new Date(0) } },
      { name: { $ne: 'anna' }, description: { $in: ['x'] }, createdAt: inRange({ lt: new Date(0) }) },
      // @ts-expect-error: an unknown value must be read first
      { name: unread },
      // @ts-expect-error: a number is compared with a text
      { name: { $in: [1] } },
      // @ts-expect-error: a bound that may be missing is left out by `definedOnly`
      { name: { $gte: undefined } },
      // @ts-expect-error: notes have no colour
      { colour: 'red' },
    ]
    expect(filters).toHaveLength(6)
  })
})

describe('a source of rows', () => {
  test('is read in its own order, and only as far as the caller reaches', async () => {
    const ownerId = 'owner_source'
    for (const name of ['Ada', 'Bea', 'Cleo']) await createNote({ name }, ownerId)
    await createNote({ name: 'Of another owner' })
    const { store, sent } = openManager({ ownerId })
    const sql = 'select *, length(name) as letters from notes where name <> ? offset 0'
    const source = { sql, values: ['Bea'], orderBy: 'letters desc, name' }
    const found = await store.rows(Note, { name: { $ne: 'Cleo' } }, { source, limit: 5 })
    expect(found.map(({ name }) => name)).toEqual(['Ada'])
    const all = await store.rows(Note, {}, { source, limit: 5 })
    expect(all.map(({ name }) => name)).toEqual(['Cleo', 'Ada'])
    expect(sent[1]?.values).toEqual(['Bea', ownerId, 'test', 5])
  })
})

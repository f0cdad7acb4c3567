import { isRaw } from '@mikro-orm/core'
import {
  AbstractSqlConnection,
  AbstractSqlDriver,
  type EntityManager,
  MikroORM,
  NativeQueryBuilder,
  PostgreSqlPlatform,
} from '@mikro-orm/postgresql'
import type { Pool, PoolClient } from 'pg'
import {
  RecordStore,
  runInPipeline,
  runPreparedStatement,
  type Sql,
} from '../../../src/record-store/index.ts'
import { Note, type Scope } from '../../record-store/note.ts'

export interface Way {
  get(id: string): Promise<unknown>
  create(name: string): Promise<unknown>
  update(id: string, name: string): Promise<unknown>
}

const scope: Scope = { ownerId: 'owner_bench', mode: 'test', authorId: null, now: new Date() }

const sqlOf =
  (client: PoolClient): Sql =>
  async (text, values) =>
    (await runInPipeline(client, text, values)) as never[]

const sqlOnAny =
  (pool: Pool): Sql =>
  async (text, values) =>
    (await runPreparedStatement(pool, text, values)) as never[]

async function inTransaction<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    const sql = sqlOf(client)
    const begun = sql('begin')
    const result = await work(sql)
    await Promise.all([begun, sql('commit')])
    return result
  } finally {
    client.release()
  }
}

export function byRecordStore(pool: Pool): Way {
  const open = (sql: Sql, readOnly = false) => {
    const store = new RecordStore<Scope>(sql, { readOnly })
    store.scope = scope
    return store
  }
  return {
    get: id => open(sqlOnAny(pool), true).findOne(Note, { id }),
    create: name =>
      inTransaction(pool, async sql => {
        const store = open(sql)
        store.create(Note, { name })
        await store.flush()
      }),
    update: (id, name) =>
      inTransaction(pool, async sql => {
        const store = open(sql)
        const note = await store.lock(Note, id)
        if (note) note.name = name
        await store.flush()
      }),
  }
}

/** MikroORM writes `?` for a value, and `\?` for the operator of that name. */
const texts = new Map<string, string>()

function numbered(text: string): string {
  const known = texts.get(text)
  if (known) return known
  let places = 0
  const made = text.replace(/\\?\?/g, found => (found === '?' ? `$${++places}` : '?'))
  texts.set(text, made)
  return made
}

/** Passes text and values to prepared statements in a pipeline, instead of writing the values into the text. */
class PreparedConnection extends AbstractSqlConnection {
  override createKysely(): void {
    // The context of each entity manager is the SQL of a connection.
  }

  override createKyselyDialect(): never {
    throw new Error('No statement goes by Kysely.')
  }

  override async connect(): Promise<void> {
    this.connected = true
  }

  override async execute(
    query: never,
    values: readonly unknown[] = [],
    method: 'all' | 'get' | 'run' = 'all',
    sql?: never,
  ): Promise<never> {
    const built: unknown =
      (query as unknown) instanceof NativeQueryBuilder ? (query as NativeQueryBuilder).toRaw() : query
    const { text, places } = isRaw(built)
      ? { text: built.sql, places: built.params }
      : { text: String(built), places: values }
    const rows = await (sql as unknown as Sql)(numbered(text), places)
    return this.transformRawResult({ rows, numAffectedRows: BigInt(rows.length) }, method)
  }
}

class PreparedDriver extends AbstractSqlDriver {
  constructor(config: never) {
    super(config, new PostgreSqlPlatform(), PreparedConnection as never, ['pg'])
  }
}

/** `for update`: MikroORM has no `for no key update`. */
const LOCK = 4

export async function byEntityManager(pool: Pool): Promise<Way> {
  const orm = await MikroORM.init({
    driver: PreparedDriver as never,
    dbName: 'bench',
    entities: [Note],
    driverOptions: {},
    ensureDatabase: false,
    implicitTransactions: false,
    logger: () => undefined,
  })
  const open = (sql: Sql): EntityManager => {
    const em = orm.em.fork()
    em.setTransactionContext(sql as never)
    em.setFilterParams('tenant', scope)
    return Object.assign(em, { scope })
  }
  return {
    get: id => open(sqlOnAny(pool)).findOne(Note, { id } as never),
    create: name =>
      inTransaction(pool, async sql => {
        const em = open(sql)
        em.create(Note, { name } as never)
        await em.flush()
      }),
    update: (id, name) =>
      inTransaction(pool, async sql => {
        const em = open(sql)
        const note = await em.findOne(Note, { id } as never, { lockMode: LOCK })
        if (note) note.name = name
        await em.flush()
      }),
  }
}

import { Socket } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import pg, { type PoolClient } from 'pg'
import {
  commandInPipeline,
  runInPipeline,
  runPreparedStatement,
  sendPipeline,
} from '../../../src/kernel/database/pipeline.ts'
import { cloneDatabase } from '../../support/database.ts'

/** A connection to PostgreSQL that remembers its packets. */
class RecordedSocket extends Socket {
  readonly packets: Buffer[] = []

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.packets.push(chunk)
    super._write(chunk, encoding, done)
  }

  override _writev(chunks: Chunks, done: (error?: Error | null) => void): void {
    this.packets.push(Buffer.concat(chunks.map(({ chunk }) => chunk)))
    super._writev?.(chunks, done)
  }
}

type Chunks = { chunk: Buffer; encoding: BufferEncoding }[]

const sockets: RecordedSocket[] = []
const pool = new pg.Pool({
  connectionString: await cloneDatabase(),
  max: 3,
  pipeline: true,
  stream: () => {
    const socket = new RecordedSocket()
    sockets.push(socket)
    return socket
  },
})
pool.on('error', () => undefined)
afterAll(() => pool.end())

interface Opened {
  readonly client: PoolClient
  readonly socket: RecordedSocket
  run(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
}

/** Work on a new connection, which may be left in a failed transaction. */
async function onConnection<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  client.on('error', () => undefined)
  try {
    const run: Opened['run'] = (text, values) => runInPipeline(client, text, values)
    return await work({ client, socket: sockets.at(-1) as RecordedSocket, run })
  } finally {
    client.release(true)
  }
}

const SYNC = Buffer.from('S\0\0\0\x04', 'latin1')

/** How often the packets end a pipeline. */
const endsIn = (packets: readonly Buffer[]): number =>
  Buffer.concat(packets).toString('latin1').split(SYNC.toString('latin1')).length - 1

describe('statements of one turn of the event loop', () => {
  test('are sent as one packet that ends once, and with the commit behind them', () =>
    onConnection(async ({ client, socket, run }) => {
      await client.query('create temporary table kept (n int); begin')
      const before = socket.packets.length
      await Promise.all([run('select $1::int', [1]), run('select 2'), run('select 3')])
      expect(socket.packets).toHaveLength(before + 1)
      expect(endsIn(socket.packets.slice(before))).toBe(1)
      const last = run('insert into pg_temp.kept values (1)')
      const done = commandInPipeline(client, () => 'commit')
      sendPipeline(client)
      await last
      expect(await done).toBe('COMMIT')
      expect(socket.packets).toHaveLength(before + 2)
      expect(endsIn(socket.packets.slice(before))).toBe(2)
    }))

  test('have their own rows each, the first time and again', () =>
    onConnection(async ({ run }) => {
      for (const n of [1, 2]) {
        const rows = await Promise.all([
          run('select $1::bigint as large, null::text as none', [n]),
          run('select n from generate_series(1, $1::int) as n', [n]),
          run('select where false'),
          run('select $1::timestamptz as at', [new Date(n)]),
          run(''),
        ])
        expect(rows).toEqual([
          [{ large: BigInt(n), none: null }],
          Array.from({ length: n }, (_, index) => ({ n: index + 1 })),
          [],
          [{ at: new Date(n) }],
          [],
        ])
      }
    }))

  test('see what those before them have written', () =>
    onConnection(async ({ run }) => {
      await run('create temporary table kept (n int)')
      const [, written] = await Promise.all([
        run('insert into pg_temp.kept values ($1)', [7]),
        run('select 1 as one'),
      ])
      expect(written).toEqual([{ one: 1 }])
      const [, rows] = await Promise.all([
        run('update pg_temp.kept set n = n + 1'),
        run('select n from pg_temp.kept'),
      ])
      expect(rows).toEqual([{ n: 8 }])
    }))

  test('fail with the first that fails, and the connection goes on', () =>
    onConnection(async ({ client, run }) => {
      const divided = 'select 1 / $1::int as result'
      const behind = 'select $1::text as behind'
      for (const _ of [1, 2]) {
        await client.query('begin')
        const results = await Promise.allSettled([
          run('select 1 as before'),
          run(divided, [0]),
          run(behind, ['a']),
          run(behind, ['b']),
        ])
        expect(results[0]).toEqual({ status: 'fulfilled', value: [{ before: 1 }] })
        const failed = { status: 'rejected', reason: expect.objectContaining({ code: '22012' }) }
        expect(results.slice(1)).toEqual([failed, failed, failed])
        expect((await client.query('commit')).command).toBe('ROLLBACK')
      }
      expect(await Promise.all([run(behind, ['c']), run(divided, [1])])).toEqual([
        [{ behind: 'c' }],
        [{ result: 1 }],
      ])
    }))

  test('fail with one that cannot be prepared, and it is prepared once it can be', () =>
    onConnection(async ({ run }) => {
      const later = 'select n from pg_temp.later'
      for (const _ of [1, 2]) {
        const results = await Promise.allSettled([run(later), run('select 1 as behind')])
        expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      }
      await run('create temporary table later as select 9 as n')
      expect(await Promise.all([run(later), run('select 1 as behind')])).toEqual([
        [{ n: 9 }],
        [{ behind: 1 }],
      ])
    }))

  test('do not fail with one whose values cannot be written, or whose rows cannot be read', () =>
    onConnection(async ({ run }) => {
      const circle: { self?: object } = {}
      circle.self = circle
      const results = await Promise.allSettled([
        run('select 1 as before'),
        run('select $1::jsonb as circle', [circle]),
        run('select 2 as behind'),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await run('select $1::jsonb as circle', [{ round: false }])).toEqual([
        { circle: { round: false } },
      ])
    }))

  test('fail when the connection breaks, all of them', () =>
    onConnection(async ({ socket, run }) => {
      const results = Promise.allSettled([run('select pg_sleep(60)'), run('select 1 as behind')])
      socket.destroy()
      expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      await expect(run('select 2 as later')).rejects.toThrow()
    }))
})

describe('a statement by itself', () => {
  test('leaves alone what is sent beside it, in its order', () =>
    onConnection(async ({ client, run }) => {
      const alone = (text: string, values?: readonly unknown[]) => runPreparedStatement(client, text, values)
      const results = await Promise.allSettled([
        run('select 1 as one'),
        alone('select 1 / $1::int as result', [0]),
        run('select 2 as two'),
        alone('select 3 as three'),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    }))

  test('runs on any connection of a pool, which has it back', async () => {
    const numbers = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, n) => (await runPreparedStatement(pool, 'select $1::int as n', [n]))[0]?.n,
      ),
    )
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, n) => n))
    await expect(runPreparedStatement(pool, 'select 1 / 0')).rejects.toThrow('division by zero')
    expect(pool.waitingCount).toBe(0)
    expect(pool.idleCount).toBe(pool.totalCount)
  })

  test('fails where there is no connection, and where none answers in time', async () => {
    const nowhere = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none', pipeline: true })
    await expect(runPreparedStatement(nowhere, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    const { connectionString } = pool.options
    const hasty = new pg.Pool({ connectionString, pipeline: true, query_timeout: 50, max: 1 })
    hasty.on('error', () => undefined)
    await expect(runPreparedStatement(hasty, 'select pg_sleep(60)')).rejects.toThrow('Query read timeout')
    expect(await runPreparedStatement(hasty, 'select 1 as one')).toEqual([{ one: 1 }])
    await Promise.all([nowhere.end(), hasty.end()])
  })

  test('fails if its commit does', async () => {
    await pool.query('create table deferred_keys (n int, unique (n) deferrable initially deferred)')
    const insert = () => runPreparedStatement(pool, 'insert into deferred_keys values ($1) returning n', [1])
    expect(await insert()).toEqual([{ n: 1 }])
    await expect(insert()).rejects.toMatchObject({ code: '23505' })
    expect(await runPreparedStatement(pool, 'select n from deferred_keys')).toEqual([{ n: 1 }])
  })
})

import type { PoolClient } from 'pg'
import { type Database, sqlOn } from './prepared-sql.ts'

const TRY = `select pg_try_advisory_lock(hashtextextended($1, 0)) as "isOurs"`
const END = 'select pg_advisory_unlock(hashtextextended($1, 0))'

/**
 * Locks that last longer than a transaction and hold across all processes. Those of a process share one
 * connection, held only while there are locks. If it is lost, or the process dies, PostgreSQL frees them.
 */
export class SessionLocks {
  readonly #database: Database
  #client: PoolClient | undefined
  #held = 0
  /** One statement at a time: a connection answers them in order anyway. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: Database) {
    this.#database = database
  }

  /** True if the lock was taken; then the caller calls `end` once. */
  tryLock(name: string): Promise<boolean> {
    return this.#inOrder(async client => {
      const [row] = await sqlOn(client)<{ isOurs: boolean }>(TRY, [name])
      if (row?.isOurs) this.#held++
      return row?.isOurs === true
    })
  }

  async end(name: string): Promise<void> {
    this.#last = this.#last.then(() => {
      this.#held--
    })
    // Losing the connection has freed the lock already.
    await this.#inOrder(client => sqlOn(client)(END, [name])).catch(() => undefined)
  }

  #inOrder<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => this.#onClient(work))
    this.#last = done.catch(() => undefined)
    return done
  }

  async #onClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    this.#client ??= await this.#database.pool.connect()
    const client = this.#client
    try {
      const result = await work(client)
      if (this.#held === 0) this.#giveBack(client)
      return result
    } catch (error) {
      this.#giveBack(client, error as Error)
      throw error
    }
  }

  #giveBack(client: PoolClient, broken?: Error): void {
    this.#client = undefined
    client.release(broken)
  }
}

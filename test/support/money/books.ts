import { afterAll } from '@jest/globals'
import type { Tenant } from '../../../src/kernel/contract/actor.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { onConnection } from '../../../src/kernel/database/connection.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import type { LockedBook } from '../../../src/money/ledger/book.ts'
import { lockBook } from '../../../src/money/ledger/open-book.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { aWallet, type TestClient } from '../factories.ts'
import { startTestService, type TestService } from '../harness.ts'

type Accounts = Parameters<typeof lockBook>[2]

/** An owner's ledger, opened with the application's database role as the nouns do. */
export interface Books {
  readonly service: TestService
  readonly client: TestClient
  readonly key: string
  readonly tenant: Tenant
  readonly sql: Sql
  wallet(euros?: number): Promise<string>
  inBook<T>(
    accounts: Accounts,
    work: (book: LockedBook) => T,
    as?: { tenant?: Tenant; now?: Date },
  ): Promise<T>
}

export async function startBooks(): Promise<Books> {
  const service = await startTestService({ own: true })
  const { ownerId, client, key } = await service.owner()
  const tenant = { ownerId, mode: 'test' } as const
  const database = openDatabase(service.databaseUrl, 8)
  afterAll(() => database.close())
  return {
    service,
    client,
    key,
    tenant,
    sql: sqlOn(database.pool),
    wallet: async (euros = 0) => (await aWallet(client, euros)).id,
    inBook: (accounts, work, as = {}) =>
      onConnection(database, 'begin', async connection => {
        const book = await lockBook(sqlOn(connection), { tenant, now: new Date(), ...as }, accounts)
        const result = work(book)
        await book.post(sqlOn(connection))
        await connection.query('commit')
        return result
      }),
  }
}

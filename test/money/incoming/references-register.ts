import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { namedBy } from '../../../src/money/references/register.ts'
import { payableWallets } from '../../../src/money/wallets/payable-wallets.ts'
import { SESSION } from '../../../src/platform/database.ts'
import { migrate } from '../../../src/platform/schema.ts'
import { aWallet } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { databaseBefore } from '../../support/older-schema.ts'
import { BELIEFS } from '../../support/planner-beliefs.ts'

const service = await startTestService({ own: true })
await aWallet((await service.owner()).client)
const FOREIGN = 'DE89370400440532013000'

describe('the register of references', () => {
  const connection = new pg.Client({ connectionString: service.databaseUrl, ...SESSION })
  beforeAll(async () => {
    await connection.connect()
    await connection.query('begin')
    await connection.query('set local role none')
  })
  afterAll(() => connection.end())

  test('is only added to', async () => {
    for (const statement of [
      'update payment_references set wallet_id = wallet_id',
      'delete from payment_references',
    ])
      await expect(service.sql(statement)).rejects.toMatchObject({ code: '23001' })
  })

  test('has the number of each wallet but the purses', async () => {
    expect(
      await service.sql(
        `select id from wallets w where (kind <> 'card') <> exists (
           select from payment_references r where (r.owner_id, r.mode, r.wallet_id, r.number) =
             (w.owner_id, w.mode, w.id, w.reference_number) and payable_id is null)`,
      ),
    ).toEqual([])
  })

  test.each(Object.entries(BELIEFS))(
    'is searched by an index, whatever is believed: %s',
    async (_, believe) => {
      await connection.query(believe)
      const statements: string[] = []
      const sql = (async (text: string) => {
        statements.push(text)
        return []
      }) as Sql
      await namedBy(sql, { mode: 'live' }, [1n])
      await payableWallets(sql, { mode: 'live' }, { ids: ['wallet_1'], ibans: [FOREIGN] })
      expect(statements).toHaveLength(2)
      for (const text of statements) {
        const { rows } = await connection.query<{ 'QUERY PLAN': string }>(
          `explain (generic_plan, costs off) ${text}`,
        )
        const plan = rows.map(row => row['QUERY PLAN']).join('\n')
        expect(plan).toMatch(/Index Scan/)
        expect(plan).not.toMatch(/Seq Scan|Bitmap|Hash|Merge/)
      }
    },
  )
})

describe('a database of the version before', () => {
  test('keeps the numbers of its wallets, which still match, and draws later ones behind them', async () => {
    const url = await databaseBefore('m0092')
    const database = new pg.Client({ connectionString: url })
    await database.connect()
    const columns = `owner_id, mode, id, created_at, updated_at, name, kind, currency, status, metadata`
    const add = (id: string, kind = 'owner') =>
      database.query(
        `insert into wallets (${columns}) values ('customer_old', 'live', $1, now(), now(), 'Old', $2, 'EUR', 'active', '{}')`,
        [id, kind],
      )
    const numberOf = async (id: string): Promise<bigint> => {
      const { rows } = await database.query('select reference_number from wallets where id = $1', [id])
      return BigInt(rows[0].reference_number)
    }
    await database.query('set session_replication_role = replica')
    for (const id of ['wallet_1', 'wallet_2', 'wallet_3']) await add(id)
    await database.query(`update wallets set kind = 'card', card_id = 'card_1' where id = 'wallet_2'`)
    await database.query('set session_replication_role = default')
    const [first, last] = [await numberOf('wallet_1'), await numberOf('wallet_3')]
    await migrate(url)
    const sql = (async (text: string, values: unknown[]) => (await database.query(text, values)).rows) as Sql
    const named = await namedBy(sql, { mode: 'live' }, [first, 2n, last])
    expect(named.map(({ walletId, payable }) => [walletId, payable])).toEqual([
      ['wallet_1', null],
      ['wallet_3', null],
    ])
    // As the processes of the version before add one: without a number.
    await add('wallet_4')
    const later = await numberOf('wallet_4')
    expect(later > last).toBe(true)
    expect(await namedBy(sql, { mode: 'live' }, [later])).toMatchObject([{ walletId: 'wallet_4' }])
    await database.end()
  })
})

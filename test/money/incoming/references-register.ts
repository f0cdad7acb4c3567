import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { resolveReferences } from '../../../src/money/references/register.ts'
import { findPayableWallets } from '../../../src/money/wallets/payable-wallets.ts'
import { POSTGRES_SESSION_OPTIONS } from '../../../src/platform/database.ts'
import { aWallet } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { BELIEFS } from '../../support/planner-beliefs.ts'

const service = await startTestService({ own: true })
await aWallet((await service.owner()).client)
const FOREIGN = 'DE89370400440532013000'

describe('the register of references', () => {
  const connection = new pg.Client({ connectionString: service.databaseUrl, ...POSTGRES_SESSION_OPTIONS })
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
      await resolveReferences(sql, { mode: 'live' }, [1n])
      await findPayableWallets(sql, { mode: 'live' }, { ids: ['wallet_1'], ibans: [FOREIGN] })
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

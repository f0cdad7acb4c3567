import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { newId } from '../../src/values/ids.ts'
import { bodyOf } from '../support/factories.ts'
import { startBooks } from '../support/money/books.ts'

const { service, client, tenant, wallet } = await startBooks()

/** A connection with the database role of the service. */
const application = new pg.Client({
  connectionString: service.databaseUrl,
  options: '-c role=agentpay_application',
})
await application.connect()
afterAll(() => application.end())

const [rich, poor, shut] = [await wallet(100), await wallet(), await wallet()]
await bodyOf(client.wallets.close({ params: { id: shut } }))
const accountOf = async (walletId: string): Promise<string> =>
  (await bodyOf(client.ledger.accounts({ query: { walletId } }))).data[0]?.id ?? ''
const [a, b, closed] = [await accountOf(rich), await accountOf(poor), await accountOf(shut)]
const other = await service.owner()
await bodyOf(other.client.wallets.create({ body: { name: 'Theirs' } }))
const theirs = (await bodyOf(other.client.ledger.accounts({ query: {} }))).data[0]?.id ?? ''

type Entry = readonly [account: string, amount: number, hold?: number, holdId?: string]

function post(entries: readonly Entry[], key = newId('key')): Promise<unknown> {
  const transferId = newId('posting')
  const transfer = {
    id: transferId,
    currency: 'EUR',
    kind: 'transfer',
    referenceType: 'trial',
    referenceId: key,
  }
  const rows = entries.map(([accountId, amount, hold = 0, holdId = null]) => ({
    transferId,
    accountId,
    amount,
    hold,
    holdId,
  }))
  const values = [tenant.ownerId, 'test', new Date(), JSON.stringify([transfer]), JSON.stringify(rows)]
  return application.query('select ledger_post($1, $2, $3, $4, $5)', values)
}

const state = () =>
  service.sql('select id, posted_cents, held_cents, version from ledger_accounts order by id')

describe('the application’s role may not', () => {
  test.each([
    'update ledger_entries set amount_cents = 0',
    'delete from ledger_entries',
    'truncate ledger_entries',
    'update ledger_transfers set kind = null',
    'delete from ledger_transfers',
    `insert into ledger_transfers values ('x')`,
    `insert into ledger_entries (account_id, version) values ('x', 1)`,
    'update ledger_accounts set posted_cents = 1000000',
    'update ledger_accounts set held_cents = 0',
    'update ledger_accounts set minimum_cents = null',
    'update ledger_accounts set version = 0',
    'delete from ledger_accounts',
    `insert into ledger_accounts (id, posted_cents) values ('x', 1)`,
    'update ledger_holds set remaining_cents = 0',
    'delete from ledger_holds',
    'update events set event = null',
    'delete from events',
    'alter table ledger_entries disable trigger user',
    'drop table ledger_entries',
    'create or replace function ledger_entries_hold_true() returns trigger language sql as $$ select null $$',
  ])('%s', async statement => {
    const before = await state()
    await expect(application.query(statement)).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|42P13)$/),
    })
    expect(await state()).toEqual(before)
  })
})

describe('ledger_post refuses a posting', () => {
  const cases: [string, Entry[], object][] = [
    [
      'that does not sum to zero',
      [
        [a, -100],
        [b, 99],
      ],
      { constraint: 'ledger_sums_to_zero' },
    ],
    ['of one side', [[a, -100]], { constraint: 'ledger_sums_to_zero' }],
    [
      'that overdraws',
      [
        [a, -10_001],
        [b, 10_001],
      ],
      { constraint: 'ledger_minimum' },
    ],
    [
      'that overdraws for a moment',
      [
        [b, -1],
        [a, 1],
        [b, 1],
        [a, -1],
      ],
      { constraint: 'ledger_minimum' },
    ],
    ['of what is held', [[a, 0, 10_001, newId('hold')]], { constraint: 'ledger_minimum' }],
    [
      'on a closed account',
      [
        [a, -1],
        [closed, 1],
      ],
      { code: '23514' },
    ],
    [
      'on another owner’s account',
      [
        [a, -1],
        [theirs, 1],
      ],
      { code: '23514' },
    ],
    [
      'on no account',
      [
        [a, -1],
        ['account_nobody', 1],
      ],
      { code: '23514' },
    ],
    [
      'of nothing',
      [
        [a, 0],
        [b, 0],
      ],
      { code: '23514' },
    ],
    ['that lets go what nobody holds', [[a, 0, -1, newId('hold')]], { code: '23514' }],
  ]
  test.each(cases)('%s', async (_, entries, error) => {
    const before = await state()
    await expect(post(entries)).rejects.toMatchObject(error)
    expect(await state()).toEqual(before)
  })

  test('with the same cause again', async () => {
    const key = newId('key')
    await post(
      [
        [a, -1],
        [b, 1],
      ],
      key,
    )
    const before = await state()
    await expect(
      post(
        [
          [a, -1],
          [b, 1],
        ],
        key,
      ),
    ).rejects.toMatchObject({ constraint: 'ledger_transfers_once' })
    expect(await state()).toEqual(before)
  })

  test('that takes more from a hold than remains, or from another account’s hold', async () => {
    const hold = newId('hold')
    await post([[a, 0, 50, hold]])
    await post([
      [b, 1],
      [a, -1],
    ])
    const before = await state()
    await expect(post([[a, 0, -51, hold]])).rejects.toMatchObject({ code: '23514' })
    await expect(post([[b, 0, -1, hold]])).rejects.toMatchObject({ code: expect.stringMatching(/^235/) })
    await post([[a, 0, -50, hold]])
    await expect(post([[a, 0, 1, hold]])).rejects.toMatchObject({ code: '23505' })
    expect(before).toHaveLength((await state()).length)
  })
})

describe('the database owner cannot', () => {
  test.each([
    'update ledger_entries set amount_cents = amount_cents',
    'delete from ledger_transfers',
    'truncate ledger_entries, ledger_transfers',
  ])('%s', async statement => {
    await expect(service.sql(statement)).rejects.toMatchObject({ code: '23001' })
  })

  test.each([
    ['an entry that its account does not know', 0, 'ledger_account_follows'],
    ['an entry after a gap', 1, 'ledger_chain'],
  ])('add %s', async (_, skipped, constraint) => {
    const [last] = await service.sql(
      'select * from ledger_entries where account_id = $1 order by version desc limit 1',
      [a],
    )
    const values = [
      a,
      BigInt(last?.version) + 1n + BigInt(skipped),
      tenant.ownerId,
      last?.balance_after_cents,
      last?.held_after_cents,
    ]
    const insert = `insert into ledger_entries (account_id, version, owner_id, mode, transfer_id, amount_cents, hold_id,
      hold_cents, balance_after_cents, held_after_cents, booked_at)
      select $1, $2::bigint, $3, 'test', transfer_id, 0, 'hold_x', 1, $4::bigint, $5::bigint + 1, now() + interval '1 day'
      from ledger_entries limit 1`
    await expect(service.sql(insert, values)).rejects.toMatchObject({ constraint })
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { PLATFORM_OWNER_ID } from '../../src/identity/customers/customer.ts'
import { ledgerAccountKinds } from '../../src/money/ledger/account.ts'
import { newId } from '../../src/values/ids.ts'
import { cents } from '../../src/values/money.ts'
import { bodyOf } from '../support/factories.ts'
import { startBooks } from '../support/money/books.ts'
import { until } from '../support/until.ts'

const { service, client, tenant, inBook, wallet } = await startBooks()

const balance = async (id: string, at?: string) => {
  const { availableEuros, heldEuros } = await bodyOf(
    client.wallets.balance({ params: { id }, query: at ? { at } : {} }),
  )
  return [availableEuros, heldEuros]
}

const accountOf = async (walletId: string) => {
  const { data } = await bodyOf(client.ledger.accounts({ query: { walletId } }))
  return data[0] as NonNullable<(typeof data)[0]>
}

const cause = (type = 'trial') => ({ type, id: newId(type) })

test('the chart of accounts is in docs/reference/money.md', () => {
  const chart = readFileSync('docs/reference/money.md', 'utf8').match(
    /^\| `\w+` \| (?:debit|credit) \| .*$/gm,
  )
  const accounts = Object.entries(ledgerAccountKinds)
  expect(chart).toEqual(
    accounts.map(([kind, { normal, meaning }]) => `| \`${kind}\` | ${normal} | ${meaning} |`),
  )
})

describe('a book', () => {
  test('moves money between wallets, with an entry on each side', async () => {
    const [from, to] = [await wallet(10), await wallet()]
    const why = cause()
    await inBook({ wallets: [from, to] }, book => book.move('transfer', from, to, cents(250n), why))
    expect([await balance(from), await balance(to)]).toEqual([
      [7.5, 0],
      [2.5, 0],
    ])
    const { data } = await bodyOf(client.ledger.transfers({ query: { referenceId: why.id } }))
    const { entries, kind, reference } = await bodyOf(
      client.ledger.transfer({ params: { id: String(data[0]?.id) } }),
    )
    expect([kind, reference]).toEqual(['transfer', why])
    expect(entries.map(({ amountEuros }) => amountEuros).toSorted()).toEqual([-2.5, 2.5])
    expect(entries.map(({ balanceAfterEuros }) => balanceAfterEuros).toSorted()).toEqual([2.5, 7.5])
  })

  test('holds money, captures a part and releases the rest', async () => {
    const [from, to] = [await wallet(10), await wallet()]
    const [intent, payment] = [cause('intent'), cause('payment')]
    await inBook({ wallets: [from] }, book => book.hold(from, cents(600n), intent))
    expect(await balance(from)).toEqual([4, 6])
    await inBook({ wallets: [from, to], holds: [intent] }, book =>
      book.capture('transfer', intent, to, cents(450n), payment),
    )
    expect([await balance(from), await balance(to)]).toEqual([
      [4, 1.5],
      [4.5, 0],
    ])
    const release = () => inBook({ wallets: [from], holds: [intent] }, book => book.release(intent))
    expect([await release(), await release()]).toEqual([150n, 0n])
    expect(await balance(from)).toEqual([5.5, 0])
    const account = await accountOf(from)
    const { data } = await bodyOf(client.ledger.entries({ params: { id: account.id }, query: {} }))
    expect(data.map(({ kind, amountEuros, heldEuros }) => [kind, amountEuros, heldEuros])).toEqual([
      ['release', 0, -1.5],
      ['transfer', -4.5, -4.5],
      ['hold', 0, 6],
      ['fund', 10, 0],
    ])
    expect(data.map(({ version }) => version)).toEqual([4, 3, 2, 1])
  })

  test('captures more than was held from the available balance', async () => {
    const [from, to] = [await wallet(10), await wallet()]
    const intent = cause('intent')
    await inBook({ wallets: [from] }, book => book.hold(from, cents(600n), intent))
    await inBook({ wallets: [from, to], holds: [intent] }, book =>
      book.capture('transfer', intent, to, cents(700n), cause()),
    )
    expect(await balance(from)).toEqual([3, 0])
  })

  test('knows what an account can pay', async () => {
    const from = await wallet(10)
    await inBook({ wallets: [from], others: ['bank', 'clearing_sepa'] }, book => {
      book.hold(from, cents(900n), cause())
      expect([book.available(from), book.canPay(from, cents(100n)), book.canPay(from, cents(101n))]).toEqual([
        100n,
        true,
        false,
      ])
      expect(book.canPay('clearing_sepa', cents(1n))).toBe(true)
    })
  })

  test('lists entries in pages, newest first, in numeric order', async () => {
    const [from, to] = [await wallet(10), await wallet()]
    for (let n = 0; n < 11; n++)
      await inBook({ wallets: [from, to] }, book => book.move('transfer', from, to, cents(1n), cause()))
    const { id } = await accountOf(from)
    const versions: number[] = []
    let cursor: string | undefined
    do {
      const query = { limit: 5, ...(cursor ? { cursor } : {}) }
      const page = await bodyOf(client.ledger.entries({ params: { id }, query }))
      versions.push(...page.data.map(({ version }) => version))
      cursor = page.nextCursor ?? undefined
    } while (cursor)
    expect(versions).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
  })

  test('refuses accounts that it was not opened with', async () => {
    const [from, stranger] = [await wallet(10), await wallet()]
    const away = inBook({ wallets: [from] }, book =>
      book.move('transfer', from, stranger, cents(1n), cause()),
    )
    await expect(away).rejects.toThrow('opened without this account')
    const other = await service.owner()
    const { id } = await bodyOf(other.client.wallets.create({ body: { name: 'Theirs' } }))
    const theirs = inBook({ wallets: [from, id] }, book =>
      book.move('transfer', from, id, cents(1n), cause()),
    )
    await expect(theirs).rejects.toThrow('opened without this account')
  })
})

describe('a balance at an instant', () => {
  test('shows one wallet and all accounts, which sum to zero', async () => {
    const [from, to] = [await wallet(10), await wallet()]
    const instants: string[] = []
    for (const amount of [cents(100n), cents(200n), cents(300n)]) {
      await inBook({ wallets: [from, to] }, book => book.move('transfer', from, to, amount, cause()))
      instants.push((await accountOf(to)).updatedAt)
      await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
    }
    const then = []
    for (const at of instants) then.push(await balance(to, at))
    expect(then).toEqual([
      [1, 0],
      [3, 0],
      [6, 0],
    ])
    expect(await balance(to, '2020-01-01T00:00:00.000Z')).toEqual([0, 0])
    for (const at of instants) {
      const { data, hasMore } = await bodyOf(client.ledger.balances({ query: { at, limit: 100 } }))
      expect(hasMore).toBe(false)
      expect(data.reduce((sum, account) => sum + Math.round(account.postedEuros * 100), 0)).toBe(0)
    }
  })

  test('never changes through later postings, even if the clock goes back', async () => {
    const [from, to] = [await wallet(10), await wallet()]
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    await bodyOf(client.fund.wallet({ params: { id: from }, body: { amountEuros: 1 } }))
    const before = (await accountOf(from)).updatedAt
    await inBook({ wallets: [from, to] }, book => book.move('transfer', from, to, cents(1n), cause()))
    expect((await accountOf(from)).updatedAt >= before).toBe(true)
  })
})

describe('verification', () => {
  test('reads every entry and finds no problem', async () => {
    const { ok, accounts, entries, sums, problems } = await bodyOf(client.ledger.verify({}))
    expect([ok, problems, sums]).toEqual([true, [], [{ currency: 'EUR', sumEuros: 0 }]])
    expect(accounts).toBeGreaterThan(5)
    expect(entries).toBeGreaterThan(10)
  })

  test.each([
    [
      'a changed amount',
      'update ledger_entries set amount_cents = amount_cents + 1',
      /the entries have a gap/,
    ],
    ['a lost entry', 'delete from ledger_entries', /has 0 entries, but counts/],
    [
      'a changed balance',
      'update ledger_accounts set posted_cents = posted_cents + 1',
      /is not the sum of the entries/,
    ],
    [
      'a forgotten hold',
      'update ledger_accounts set held_cents = held_cents + 1',
      /not the sum of the open holds/,
    ],
  ])('finds %s', async (_, damage, complaint) => {
    const other = await service.owner()
    const { id } = await bodyOf(other.client.wallets.create({ body: { name: 'Theirs' } }))
    await bodyOf(other.client.fund.wallet({ params: { id }, body: { amountEuros: 5 } }))
    await service.sql('alter table ledger_entries disable trigger user')
    await service.sql(
      `${damage} where owner_id = $1 and ${/entries/.test(damage) ? 'account_id' : 'id'} in (
      select id from ledger_accounts where wallet_id = $2)`,
      [other.ownerId, id],
    )
    await service.sql('alter table ledger_entries enable trigger user')
    const { ok, problems } = await bodyOf(other.client.ledger.verify({}))
    expect(ok).toBe(false)
    expect(problems.join(' ')).toMatch(complaint)
  })

  test('runs once at a time per ledger, across processes', async () => {
    const another = new pg.Client({ connectionString: service.databaseUrl })
    await another.connect()
    const lock = `select pg_advisory_lock(hashtextextended('alone verify ' || $1 || ' test', 0))`
    await another.query(lock, [tenant.ownerId])
    const other = await service.owner()
    const verify = { params: { id: tenant.ownerId }, body: { mode: 'test' } } as const
    expect(await client.ledger.verify({})).toMatchObject({ status: 409, code: 'verifying' })
    expect(await service.dash.ledger.verifyOwner(verify)).toMatchObject({ status: 409, code: 'verifying' })
    expect((await bodyOf(other.client.ledger.verify({}))).ok).toBe(true)
    await another.end()
    await until('its end', async () => (await client.ledger.verify({})).status === 200)
  })

  test('is available to the operator for any ledger, the platform’s included', async () => {
    const verify = (id: string, mode: 'test' | 'live') =>
      service.dash.ledger.verifyOwner({ params: { id }, body: { mode } })
    const { accounts } = await bodyOf(client.ledger.verify({}))
    expect(await bodyOf(verify(tenant.ownerId, 'test'))).toMatchObject({ ok: true, accounts })
    expect(await bodyOf(verify(tenant.ownerId, 'live'))).toMatchObject({ ok: true, accounts: 0 })
    expect(await bodyOf(verify(PLATFORM_OWNER_ID, 'live'))).toMatchObject({ ok: true })
    expect(await verify('customer_nobody', 'live')).toMatchObject({ status: 404, code: 'customer_not_found' })
  })

  test('covers the caller’s own ledger', async () => {
    expect((await bodyOf(client.ledger.verify({}))).ok).toBe(true)
    expect(tenant.mode).toBe('test')
  })
})

import './statements/statement-documents.ts'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { LockedBook, PostingCause } from '../../src/money/ledger/book.ts'
import { postingTemplates } from '../../src/money/ledger/templates.ts'
import { movementKindOfTemplate } from '../../src/money/statements/movements.ts'
import { newId } from '../../src/values/ids.ts'
import { addCents, type Cents, cents, negateCents, subtractCents } from '../../src/values/money.ts'
import { times } from '../support/at-once.ts'
import { aWallet, bodyOf } from '../support/factories.ts'
import { startBooks } from '../support/money/books.ts'
import { inCents, instantAt, newCause, OPENED_AT, rowsOf, statementsIn } from '../support/money/statements.ts'

const { service, client, key, inBook } = await startBooks()
const { updates, draw, read, anOldWallet } = statementsIn({ service, client, key, inBook })

function releaseOldest(book: LockedBook, holds: PostingCause[]): void {
  const hold = holds.shift()
  if (hold) book.release(hold)
}

describe('the opening balance and the movements sum to the closing balance', () => {
  const PERIODS = ['2026-01', '2026-02', '2026-03'] as const
  const step = fc.record({
    kind: fc.constantFrom('in', 'out', 'hold', 'release'),
    amount: fc.bigInt({ min: 1n, max: 100_000n }).map(cents),
    hours: fc.integer({ min: 0, max: 400 }),
  })

  test('month after month, for random postings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async steps => {
        const old = await anOldWallet()
        const [holds, booked]: [PostingCause[], { on: Date; amount: Cents }[]] = [[], []]
        let now = OPENED_AT
        for (const { kind, amount, hours } of steps) {
          now = new Date(Math.min(now.getTime() + hours * 3_600_000, Date.parse('2026-03-31T23:59:59.999Z')))
          const work = (book: LockedBook): void => {
            if (kind === 'release') releaseOldest(book, holds)
            if (kind === 'release' || (kind !== 'in' && !book.canPay(old.id, amount))) return
            const posting = newCause()
            if (kind === 'hold') book.hold(old.id, amount, posting)
            if (kind === 'in') book.move('fund', 'bank', old.id, amount, posting)
            if (kind === 'out') book.move('transfer', old.id, old.other, amount, posting)
            if (kind === 'hold') holds.push(posting)
            else booked.push({ on: now, amount: kind === 'in' ? amount : negateCents(amount) })
          }
          await old.book(now, work, holds)
        }
        let balance = 0n
        for (const period of PERIODS) {
          const statement = await old.draw(period)
          const amounts = booked
            .filter(({ on }) => on.toISOString().startsWith(period))
            .map(({ amount }) => amount)
          expect(inCents(statement.openingEuros)).toBe(balance)
          expect(statement).toMatchObject({ status: 'final', period, movements: amounts.length })
          const [, ...rows] = rowsOf(await read(statement, 'csv', old.key))
          expect(rows.map(cells => inCents(String(cells[7])))).toEqual(amounts)
          for (const cells of rows) {
            balance += inCents(String(cells[7]))
            expect(inCents(String(cells[8]))).toBe(balance)
          }
          expect(inCents(statement.closingEuros)).toBe(balance)
          const [came, went] = [inCents(statement.inEuros), inCents(statement.outEuros)]
          expect(subtractCents(addCents(inCents(statement.openingEuros), came), went)).toBe(balance)
        }
      }),
      { numRuns: 8 },
    )
  })

  test('since the database refuses other figures, and changes to a final statement', async () => {
    const old = await anOldWallet()
    await old.fund(cents(500n), instantAt('2026-02-10T00:00:00Z'))
    const [open, final] = [await old.draw(), await old.draw('2026-02')]
    const change = (statementId: string) =>
      service.sql('update statements set closing_cents = closing_cents + 1 where id = $1', [statementId])
    await expect(change(open.id)).rejects.toThrow('statements_add_up')
    await expect(change(final.id)).rejects.toThrow('append-only')
    await expect(service.sql('delete from statements where id = $1', [final.id])).rejects.toThrow(
      'append-only',
    )
  })

  test('with each posting around the end of a month in one statement', async () => {
    const old = await anOldWallet()
    await old.fund(cents(1n), instantAt('2026-01-31T23:59:59.999Z'))
    await old.fund(cents(10n), instantAt('2026-02-01T00:00:00.000Z'))
    const [january, february] = [await old.draw('2026-01'), await old.draw('2026-02')]
    expect([january.closingEuros, february.openingEuros, february.closingEuros]).toEqual([0.01, 0.01, 0.11])
  })

  test('with a posting that begins before the end of a month and ends after its statement in the next month', async () => {
    const old = await anOldWallet()
    await old.fund(cents(100n), instantAt('2026-01-20T00:00:00Z'))
    const january = await old.draw('2026-01')
    await old.fund(cents(23n), instantAt('2026-01-31T23:59:59Z'))
    const february = await old.draw('2026-02')
    expect(await old.draw('2026-01')).toEqual(january)
    expect([january.closingEuros, february.openingEuros, february.closingEuros]).toEqual([1, 1, 1.23])
  })
})

describe('a statement', () => {
  test('of the current month is updated on request, with an event if it has changed', async () => {
    const { id } = await aWallet(client, 50)
    const first = await draw(id)
    expect(first).toMatchObject({ status: 'open', openingEuros: 0, closingEuros: 50, movements: 1 })
    expect(await draw(id)).toEqual(first)
    await bodyOf(client.fund.wallet({ params: { id }, body: { amountEuros: 7.5 } }))
    const second = await draw(id)
    expect(second).toMatchObject({ id: first.id, closingEuros: 57.5, inEuros: 57.5, movements: 2 })
    expect(await updates(first.id)).toEqual(['open', 'open'])
  })

  test('is created once by concurrent requests', async () => {
    const [running, old] = [(await aWallet(client, 5)).id, await anOldWallet()]
    await old.fund(cents(5n), instantAt('2026-02-10T00:00:00Z'))
    for (const ask of [() => draw(running), () => old.draw('2026-02')]) {
      const ids = new Set((await times(8, ask)).map(statement => statement.id))
      expect(ids.size).toBe(1)
      expect(await updates([...ids][0] as string)).toHaveLength(1)
    }
  })

  test('is found by wallet, month and status', async () => {
    const { draw, id, client } = await anOldWallet()
    const [open, final] = [await draw(), await draw('2026-02')]
    const list = async (query: object) =>
      (await bodyOf(client.statements.list({ query: { walletId: id, ...query } }))).data.map(
        statement => statement.id,
      )
    expect(await list({})).toEqual([final.id, open.id])
    expect(await list({ period: '2026-02' })).toEqual([final.id])
    expect(await list({ status: 'open' })).toEqual([open.id])
    expect(await bodyOf(client.statements.get({ params: { id: final.id } }))).toEqual(final)
  })

  test('is refused for a future month and for one before the wallet was opened', async () => {
    const walletId = (await aWallet(client)).id
    const codes = await Promise.all(
      ['2999-01', '2020-01', '0000-01'].map(
        async period => (await client.statements.create({ body: { walletId, period } })).code,
      ),
    )
    expect(codes).toEqual(['period_not_begun', 'period_before_wallet', 'period_before_wallet'])
    const wrong = await client.statements.create({ body: { walletId, period: '2026-13' } })
    expect([wrong.status, wrong.error]).toEqual([400, expect.stringMatching(/^period: /)])
    const unknown = await client.statements.create({ body: { walletId: newId('wallet') } })
    expect(unknown.code).toBe('wallet_not_found')
    expect((await bodyOf(client.statements.list({ query: { walletId } }))).data).toEqual([])
  })

  test('remains when the wallet is closed', async () => {
    const { id } = await aWallet(client, 3)
    const { id: other } = await aWallet(client)
    const body = { fromWalletId: id, toWalletId: other, amountEuros: 3 }
    await bodyOf(client.transfers.create({ body }))
    await bodyOf(client.wallets.close({ params: { id } }))
    const statement = await draw(id)
    expect(statement).toMatchObject({ inEuros: 3, outEuros: 3, closingEuros: 0, movements: 2 })
    expect(rowsOf(await read(statement, 'csv'))).toHaveLength(3)
  })
})

test('every posting template that affects a wallet has a description', () => {
  const touching = Object.entries(postingTemplates).flatMap(([name, sides]) =>
    (sides as readonly string[]).includes('wallet') ? [name] : [],
  )
  const byName = (name: string) => name.replaceAll('_', ' ').replace(/^./, first => first.toUpperCase())
  expect(
    touching.filter(
      name =>
        movementKindOfTemplate(name).code === 'OTHR' && movementKindOfTemplate(name).words === byName(name),
    ),
  ).toEqual([])
})

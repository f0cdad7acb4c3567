import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { newId } from '../../src/kernel/ids.ts'
import { readXml } from '../../src/kernel/xml.ts'
import { misshapen } from '../../src/kernel/xml-shape.ts'
import { readCamt } from '../../src/money/billing/camt.ts'
import type { Book, Cause } from '../../src/money/ledger/ledger.ts'
import { templates } from '../../src/money/ledger/templates.ts'
import { kindOf } from '../../src/money/statements/kinds.ts'
import { startBooks } from '../support/books.ts'
import { camt053Shape } from '../support/camt053-shape.ts'
import { aPayment, aWallet, made, type TestClient } from '../support/factories.ts'
import { times } from '../support/pot-house.ts'

const { house, client, key, inBook } = await startBooks()

const at = (text: string): Date => new Date(text)
const cause = () => ({ type: 'trial', id: newId('trial') })

type OwnerOf = Awaited<ReturnType<typeof house.owner>>

/** An owner with two wallets that were opened long ago, and the ledger of that owner at any instant since. */
interface Old extends OwnerOf {
  readonly id: string
  readonly other: string
  book(now: Date, work: (book: Book) => void, holds?: readonly Cause[]): Promise<void>
  fund(cents: bigint, now: Date): Promise<void>
  draw(period?: string): ReturnType<typeof drawOf>
}

const OPENED = at('2026-01-15T12:00:00Z')

async function anOldWallet(): Promise<Old> {
  const owner = await house.owner()
  const [id, other] = [(await aWallet(owner.client)).id, (await aWallet(owner.client)).id]
  await house.sql('update wallets set created_at = $2 where owner_id = $1', [owner.ownerId, OPENED])
  const stamps = 'created_at = $2, updated_at = $2'
  await house.sql(`update ledger_accounts set ${stamps} where owner_id = $1`, [owner.ownerId, OPENED])
  const tenant = { ownerId: owner.ownerId, mode: 'test' } as const
  const book: Old['book'] = (now, work, holds = []) =>
    inBook({ wallets: [id, other], others: ['bank'], holds }, work, { tenant, now })
  const fund: Old['fund'] = (cents, now) => book(now, one => one.move('fund', 'bank', id, cents, cause()))
  return { ...owner, id, other, book, fund, draw: period => drawOf(owner.client, id, period) }
}

const drawOf = (of: TestClient, walletId: string, period?: string) =>
  made(of.statements.create({ body: { walletId, ...(period && { period }) } }))

const draw = (walletId: string) => drawOf(client, walletId)

async function read(
  { id }: { id: string },
  form: 'pdf' | 'csv' | 'camt053',
  token: string = key,
): Promise<Buffer> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${house.url}/bills/${id}/${form}`, { headers })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

/** The cells of a table whose texts hold no line breaks. */
const rowsOf = (csv: Buffer): string[][] =>
  csv
    .toString()
    .trimEnd()
    .split('\r\n')
    .map(line => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)])
    .map(cells => cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''))

const updates = async (id: string): Promise<string[]> =>
  (
    await house.sql<{ status: string }>(
      `select data ->> 'status' as status from events
       where event = 'bill.updated' and data ->> 'statementId' = $1 order by id`,
      [id],
    )
  ).map(({ status }) => status)

const cents = (text: string | number): bigint => BigInt(Math.round(Number(text) * 100))

function release(book: Book, kept: Cause[]): void {
  const one = kept.shift()
  if (one) book.release(one)
}

describe('opening and movements make the closing balance', () => {
  const PERIODS = ['2026-01', '2026-02', '2026-03'] as const
  const step = fc.record({
    what: fc.constantFrom('in', 'out', 'hold', 'release'),
    amount: fc.bigInt({ min: 1n, max: 100_000n }),
    hours: fc.integer({ min: 0, max: 400 }),
  })

  test('month after month, whatever has been booked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async steps => {
        const old = await anOldWallet()
        const [kept, booked]: [Cause[], { on: Date; amount: bigint }[]] = [[], []]
        let now = OPENED
        for (const { what, amount, hours } of steps) {
          now = new Date(Math.min(now.getTime() + hours * 3_600_000, Date.parse('2026-03-31T23:59:59.999Z')))
          const work = (book: Book): void => {
            if (what === 'release') release(book, kept)
            if (what === 'release' || (what !== 'in' && !book.canPay(old.id, amount))) return
            const one = cause()
            if (what === 'hold') book.hold(old.id, amount, one)
            if (what === 'in') book.move('fund', 'bank', old.id, amount, one)
            if (what === 'out') book.move('transfer', old.id, old.other, amount, one)
            if (what === 'hold') kept.push(one)
            else booked.push({ on: now, amount: what === 'in' ? amount : -amount })
          }
          await old.book(now, work, kept)
        }
        let balance = 0n
        for (const period of PERIODS) {
          const statement = await old.draw(period)
          const amounts = booked
            .filter(({ on }) => on.toISOString().startsWith(period))
            .map(({ amount }) => amount)
          expect(cents(statement.openingEuros)).toBe(balance)
          expect(statement).toMatchObject({ status: 'final', period, movements: amounts.length })
          const [, ...rows] = rowsOf(await read(statement, 'csv', old.key))
          expect(rows.map(cells => cents(String(cells[7])))).toEqual(amounts)
          for (const cells of rows) {
            balance += cents(String(cells[7]))
            expect(cents(String(cells[8]))).toBe(balance)
          }
          expect(cents(statement.closingEuros)).toBe(balance)
          const [came, went] = [cents(statement.inEuros), cents(statement.outEuros)]
          expect(cents(statement.openingEuros) + came - went).toBe(balance)
        }
      }),
      { numRuns: 8 },
    )
  })

  test('the database keeps no other, and changes nothing of a month that is over', async () => {
    const old = await anOldWallet()
    await old.fund(500n, at('2026-02-10T00:00:00Z'))
    const [open, final] = [await old.draw(), await old.draw('2026-02')]
    const change = (statementId: string) =>
      house.sql('update statements set closing_cents = closing_cents + 1 where id = $1', [statementId])
    await expect(change(open.id)).rejects.toThrow('statements_add_up')
    await expect(change(final.id)).rejects.toThrow('append-only')
    await expect(house.sql('delete from statements where id = $1', [final.id])).rejects.toThrow('append-only')
  })

  test('at the turn of a month each posting is in one of them', async () => {
    const old = await anOldWallet()
    await old.fund(1n, at('2026-01-31T23:59:59.999Z'))
    await old.fund(10n, at('2026-02-01T00:00:00.000Z'))
    const [january, february] = [await old.draw('2026-01'), await old.draw('2026-02')]
    expect([january.closingEuros, february.openingEuros, february.closingEuros]).toEqual([0.01, 0.01, 0.11])
  })

  test('whoever has begun before the month was over and posts after it was drawn up, is in the next one', async () => {
    const old = await anOldWallet()
    await old.fund(100n, at('2026-01-20T00:00:00Z'))
    const january = await old.draw('2026-01')
    await old.fund(23n, at('2026-01-31T23:59:59Z'))
    const february = await old.draw('2026-02')
    expect(await old.draw('2026-01')).toEqual(january)
    expect([january.closingEuros, february.openingEuros, february.closingEuros]).toEqual([1, 1, 1.23])
  })
})

describe('a statement', () => {
  test('of the month that runs is brought up to date when it is asked for, and told of when it is another', async () => {
    const { id } = await aWallet(client, 50)
    const first = await draw(id)
    expect(first).toMatchObject({ status: 'open', openingEuros: 0, closingEuros: 50, movements: 1 })
    expect(await draw(id)).toEqual(first)
    await made(client.fund.wallet({ params: { id }, body: { amountEuros: 7.5 } }))
    const second = await draw(id)
    expect(second).toMatchObject({ id: first.id, closingEuros: 57.5, inEuros: 57.5, movements: 2 })
    expect(await updates(first.id)).toEqual(['open', 'open'])
  })

  test('is one, however many ask at once', async () => {
    const [running, old] = [(await aWallet(client, 5)).id, await anOldWallet()]
    await old.fund(5n, at('2026-02-10T00:00:00Z'))
    for (const ask of [() => draw(running), () => old.draw('2026-02')]) {
      const ids = new Set((await times(8, ask)).map(statement => statement.id))
      expect(ids.size).toBe(1)
      expect(await updates([...ids][0] as string)).toHaveLength(1)
    }
  })

  test('is found by wallet, month and state', async () => {
    const { draw, id, client } = await anOldWallet()
    const [open, final] = [await draw(), await draw('2026-02')]
    const list = async (query: object) =>
      (await made(client.statements.list({ query: { walletId: id, ...query } }))).data.map(one => one.id)
    expect(await list({})).toEqual([final.id, open.id])
    expect(await list({ period: '2026-02' })).toEqual([final.id])
    expect(await list({ status: 'open' })).toEqual([open.id])
    expect(await made(client.statements.get({ params: { id: final.id } }))).toEqual(final)
  })

  test('is none of what has not begun, nor of what was before the wallet', async () => {
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
    expect((await made(client.statements.list({ query: { walletId } }))).data).toEqual([])
  })

  test('stays when the wallet is closed', async () => {
    const { id } = await aWallet(client, 3)
    const { id: other } = await aWallet(client)
    const body = { fromWalletId: id, toWalletId: other, amountEuros: 3 }
    await made(client.transfers.create({ body }))
    await made(client.wallets.close({ params: { id } }))
    const statement = await draw(id)
    expect(statement).toMatchObject({ inEuros: 3, outEuros: 3, closingEuros: 0, movements: 2 })
    expect(rowsOf(await read(statement, 'csv'))).toHaveLength(3)
  })
})

describe('its documents', () => {
  const NAMES = [
    '=HYPERLINK("http://x")',
    '+1',
    '-2+3',
    '@sum',
    '\tx',
    'Müller, "Söhne" & <Co>',
    '＝1',
    "O'Neill",
  ]

  /** A wallet into which these have paid, with a payment to somebody and one that came back. */
  async function aBusyWallet() {
    const purse = await aWallet(client, 100)
    for (const [index, senderName] of NAMES.entries())
      await made(
        client.incoming.simulate({
          body: {
            ...{ amountEuros: index + 0.07, iban: String(purse.iban), senderName, reference: senderName },
            ...{ senderIban: 'NL91ABNA0417164300', endToEndId: `E2E-${index}` },
          },
        }),
      )
    await aPayment(client, { fromWalletId: purse.id, amountEuros: 12.5, reference: 'Rolls' })
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    return purse
  }

  test('are safe in a spreadsheet, and numbers stay numbers', async () => {
    const statement = await draw((await aBusyWallet()).id)
    const [head, ...rows] = rowsOf(await read(statement, 'csv'))
    expect(head).toEqual(
      'bookedAt valueDate kind counterparty counterpartyAccount reference endToEndId amountEuros balanceEuros postingId'.split(
        ' ',
      ),
    )
    expect(rows.flat().filter(cell => /^[=+@\t＝]|^-(?!\d+\.\d\d$)/.test(cell))).toEqual([])
    expect(rows.map(([, , , name]) => name)).toEqual(
      expect.arrayContaining(['\'=HYPERLINK("http://x")', "'-2+3", 'Müller, "Söhne" & <Co>', "O'Neill"]),
    )
    for (const [booked, valued, ...cells] of rows) {
      expect(booked).toMatch(/^\d{4}-\d\d-\d\dT/)
      expect(valued).toMatch(/^\d{4}-\d\d-\d\d$/)
      expect(cells.slice(5, 7)).toEqual(Array(2).fill(expect.stringMatching(/^-?\d+\.\d\d$/)))
    }
  })

  test('tell a bank’s reader what has come in, and are of the shape of camt.053.001.08', async () => {
    const purse = await aBusyWallet()
    const statement = await draw(purse.id)
    const xml = (await read(statement, 'camt053')).toString()
    const document = readXml(xml)
    expect(misshapen(document, camt053Shape)).toBeUndefined()
    const { entries, arrivals, skipped } = readCamt(document, '2026-01-01')
    expect(entries).toBe(statement.movements)
    const came = arrivals.reduce((sum, { amountEuros }) => sum + amountEuros, 0n)
    expect(came).toBe(cents(statement.inEuros))
    expect(skipped.map(({ reason }) => reason)).toEqual(['not_a_credit'])
    expect(arrivals.at(-1)).toMatchObject({
      ...{ senderName: "O'Neill", senderIban: 'NL91ABNA0417164300', endToEndId: 'E2E-7' },
      ...{ origin: purse.iban, iban: purse.iban, reference: "O'Neill" },
    })
  })

  test('have as many pages as they say, and no name breaks them', async () => {
    const statement = await draw((await aBusyWallet()).id)
    const pdf = await read(statement, 'pdf')
    expect(statement.movements).toBe(10)
    expect([pdf.subarray(0, 5).toString(), pdf.subarray(-6).toString()]).toEqual(['%PDF-', '%%EOF\n'])
    const pages = async (count: number): Promise<number> => {
      const old = await anOldWallet()
      await old.book(at('2026-02-02T00:00:00Z'), book => {
        for (let n = 0; n < count; n++) book.move('fund', 'bank', old.id, 1n, cause())
      })
      const text = (await read(await old.draw('2026-02'), 'pdf', old.key)).toString('latin1')
      return [...text.matchAll(/\/Type \/Page\b/g)].length
    }
    expect([await pages(15), await pages(16), await pages(41)]).toEqual([1, 2, 3])
  })

  test('of a month that is over are the same for ever', async () => {
    const { id, other, key, client, draw, book, fund } = await anOldWallet()
    await book(at('2026-02-03T00:00:00Z'), one => {
      one.move('fund', 'bank', other, 900n, cause())
      one.move('transfer', other, id, 300n, cause())
    })
    const statement = await draw('2026-02')
    const all = () =>
      Promise.all((['pdf', 'csv', 'camt053'] as const).map(form => read(statement, form, key)))
    const before = await all()
    await made(client.wallets.update({ params: { id: other }, body: { name: 'Another name' } }))
    await made(client.customers.updateMe({ body: { name: 'Another holder' } }))
    await fund(1n, new Date())
    expect(await all()).toEqual(before)
    expect(rowsOf(before[1] as Buffer)[1]?.slice(2, 5)).toEqual([
      'Transfer between wallets',
      statement.holder,
      (await made(client.wallets.get({ params: { id: other } }))).iban,
    ])
  })

  test('are read in pages, and none is missing or twice', async () => {
    const old = await anOldWallet()
    await old.book(at('2026-02-02T00:00:00Z'), book => {
      for (let n = 1; n <= 750; n++) book.move('fund', 'bank', old.id, BigInt(n), cause())
    })
    const statement = await old.draw('2026-02')
    const [, ...rows] = rowsOf(await read(statement, 'csv', old.key))
    expect(rows.map(cells => Number(cells[7]))).toEqual(Array.from({ length: 750 }, (_, n) => (n + 1) / 100))
    expect(statement).toMatchObject({ movements: 750, closingEuros: 2816.25 })
  })

  test('have a name to be saved under, and an answer to HEAD', async () => {
    const statement = await draw((await aWallet(client, 1)).id)
    const path = `/v1/statements/${statement.id}/csv`
    const { status, headers, text } = await house.http('HEAD', path, { token: key })
    expect([status, text, headers.get('content-type')]).toEqual([
      200,
      '',
      expect.stringContaining('text/csv'),
    ])
    const name = `statement-${statement.period}-${statement.iban}.csv`
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
  })
})

test('every posting that touches a wallet has words', () => {
  const touching = Object.entries(templates).flatMap(([name, sides]) =>
    (sides as readonly string[]).includes('wallet') ? [name] : [],
  )
  const byName = (name: string) => name.replaceAll('_', ' ').replace(/^./, first => first.toUpperCase())
  expect(
    touching.filter(name => kindOf(name).code === 'OTHR' && kindOf(name).words === byName(name)),
  ).toEqual([])
})

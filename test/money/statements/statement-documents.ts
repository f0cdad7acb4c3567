import { inflateRawSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { parseCamt } from '../../../src/iso20022/camt.ts'
import { parseXml } from '../../../src/iso20022/xml-reader.ts'
import { schemaViolation } from '../../../src/iso20022/xml-schema.ts'
import { cents } from '../../../src/values/money.ts'
import { aSepaTransfer, aWallet, bodyOf } from '../../support/factories.ts'
import { startBooks } from '../../support/money/books.ts'
import { camt053Schema } from '../../support/money/camt053-schema.ts'
import { inCents, instantAt, newCause, rowsOf, statementsIn } from '../../support/money/statements.ts'

const { service, client, key, inBook } = await startBooks()
const { anOldWallet, read, draw } = statementsIn({ service, client, key, inBook })

describe('statement documents', () => {
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

  async function aBusyWallet() {
    const wallet = await aWallet(client, 100)
    for (const [index, senderName] of NAMES.entries())
      await bodyOf(
        client.incoming.simulate({
          body: {
            amountEuros: index + 0.07,
            iban: String(wallet.iban),
            reference: senderName,
            senderName,
            senderIban: 'NL91ABNA0417164300',
            endToEndId: `E2E-${index}`,
          },
        }),
      )
    await aSepaTransfer(client, { fromWalletId: wallet.id, amountEuros: 12.5, reference: 'Rolls' })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    return wallet
  }

  test('have no formulas in CSV, and numbers stay numbers', async () => {
    const statement = await draw((await aBusyWallet()).id)
    const [head, ...rows] = rowsOf(await read(statement, 'csv'))
    expect(head).toEqual(
      'bookedAt valueDate kind counterparty counterpartyAccount reference endToEndId amountEuros balanceEuros postingId originalAmount originalCurrency exchangeRate'.split(
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

  test('statements distinguish card payments and their refunds from transfers', async () => {
    const { id } = await aWallet(client, 100)
    const card = ['clearing_cards', 'bank'] as const
    await inBook({ wallets: [id], others: card }, book => {
      book.move('card_capture', id, 'clearing_cards', cents(3_000n), newCause())
      book.move('card_undo', 'clearing_cards', id, cents(500n), newCause())
      book.move('card_refund', 'bank', id, cents(1_000n), newCause())
    })
    const statement = await draw(id)
    const xml = (await read(statement, 'camt053')).toString()
    expect(schemaViolation(parseXml(xml), camt053Schema)).toBeUndefined()
    const families = [...xml.matchAll(/<Fmly><Cd>(\w+)<\/Cd><SubFmlyCd>(\w+)</g)].map(([, ...codes]) => codes)
    expect(families).toEqual([
      ['RCDT', 'OTHR'],
      ['CCRD', 'POSD'],
      ['CCRD', 'RIMB'],
      ['CCRD', 'RIMB'],
    ])
    const kinds = rowsOf(await read(statement, 'csv')).map(([, , kind]) => kind)
    expect(kinds.slice(2)).toEqual([
      'Payment by card',
      'Payment by card, not made',
      'Payment by card, refunded',
    ])
  })

  test('are valid camt.053.001.08, and readable as a bank’s file', async () => {
    const wallet = await aBusyWallet()
    const statement = await draw(wallet.id)
    const xml = (await read(statement, 'camt053')).toString()
    const document = parseXml(xml)
    expect(schemaViolation(document, camt053Schema)).toBeUndefined()
    const { entries, credits, skipped } = parseCamt(document, '2026-01-01')
    expect(entries).toBe(statement.movements)
    const credited = credits.reduce((sum, { amountCents }) => sum + amountCents, 0n)
    expect(credited).toBe(inCents(statement.inEuros))
    expect(skipped.map(({ reason }) => reason)).toEqual(['not_a_credit'])
    expect(credits.at(-1)).toMatchObject({
      senderName: "O'Neill",
      senderIban: 'NL91ABNA0417164300',
      endToEndId: 'E2E-7',
      origin: wallet.iban,
      iban: wallet.iban,
      reference: "O'Neill",
    })
  })

  test('have the number of pages that they state, for any name', async () => {
    const statement = await draw((await aBusyWallet()).id)
    const pdf = await read(statement, 'pdf')
    expect(statement.movements).toBe(10)
    expect([pdf.subarray(0, 5).toString(), pdf.subarray(-6).toString()]).toEqual(['%PDF-', '%%EOF\n'])
    const pages = async (count: number): Promise<number> => {
      const old = await anOldWallet()
      await old.book(instantAt('2026-02-02T00:00:00Z'), book => {
        for (let n = 0; n < count; n++) book.move('fund', 'bank', old.id, cents(1n), newCause())
      })
      const text = (await read(await old.draw('2026-02'), 'pdf', old.key)).toString('latin1')
      return [...text.matchAll(/\/Type \/Page\b/g)].length
    }
    expect([await pages(15), await pages(16), await pages(41)]).toEqual([1, 2, 3])
  })

  test('of a past month never change', async () => {
    const { id, other, key, client, draw, book, fund } = await anOldWallet()
    await book(instantAt('2026-02-03T00:00:00Z'), opened => {
      opened.move('fund', 'bank', other, cents(900n), newCause())
      opened.move('transfer', other, id, cents(300n), newCause())
    })
    const statement = await draw('2026-02')
    const all = () =>
      Promise.all((['pdf', 'csv', 'camt053'] as const).map(form => read(statement, form, key)))
    const before = await all()
    await bodyOf(client.wallets.update({ params: { id: other }, body: { name: 'Another name' } }))
    await bodyOf(client.customers.updateMe({ body: { name: 'Another holder' } }))
    await fund(cents(1n), new Date())
    expect(await all()).toEqual(before)
    expect(rowsOf(before[1] as Buffer)[1]?.slice(2, 5)).toEqual([
      'Transfer between wallets',
      statement.holder,
      (await bodyOf(client.wallets.get({ params: { id: other } }))).iban,
    ])
  })

  test('contain every movement once across pages', async () => {
    const old = await anOldWallet()
    await old.book(instantAt('2026-02-02T00:00:00Z'), book => {
      for (let n = 1; n <= 750; n++) book.move('fund', 'bank', old.id, cents(n), newCause())
    })
    const statement = await old.draw('2026-02')
    const [, ...rows] = rowsOf(await read(statement, 'csv', old.key))
    expect(rows.map(cells => Number(cells[7]))).toEqual(Array.from({ length: 750 }, (_, n) => (n + 1) / 100))
    expect(statement).toMatchObject({ movements: 750, closingEuros: 2816.25 })
  })

  test('have a file name, and answer HEAD', async () => {
    const statement = await draw((await aWallet(client, 1)).id)
    const path = `/v1/statements/${statement.id}/csv`
    const { status, headers, text } = await service.http('HEAD', path, { token: key })
    expect([status, text, headers.get('content-type')]).toEqual([
      200,
      '',
      expect.stringContaining('text/csv'),
    ])
    const name = `statement-${statement.period}-${statement.iban}.csv`
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
  })
})

/** Reads a ZIP file by its central directory. */
function filesIn(zip: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'))
  for (
    let at = zip.readUInt32LE(end + 16);
    at < end;
    at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  ) {
    const name = zip.subarray(at + 46, at + 46 + zip.readUInt16LE(at + 28)).toString()
    const local = zip.readUInt32LE(at + 42)
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    files.set(name, inflateRawSync(zip.subarray(begin, begin + zip.readUInt32LE(at + 20))))
  }
  return files
}

describe('the export of a month', () => {
  const exported = (token: string, query: string) =>
    fetch(`${service.url}/statements/export${query}`, { headers: { authorization: `Bearer ${token}` } })

  test('has the statement of every wallet in every format, as each is downloaded alone', async () => {
    const old = await anOldWallet()
    await old.fund(cents(50_000n), instantAt('2026-02-10T00:00:00Z'))
    await old.book(instantAt('2026-02-11T00:00:00Z'), book =>
      book.move('transfer', old.id, old.other, cents(1_250n), newCause()),
    )
    const statements = [
      await old.draw('2026-02'),
      await bodyOf(old.client.statements.create({ body: { walletId: old.other, period: '2026-02' } })),
    ]
    const response = await exported(old.key, '?period=2026-02')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip'])
    expect(response.headers.get('content-disposition')).toContain('statements-2026-02.zip')
    const files = filesIn(Buffer.from(await response.arrayBuffer()))
    expect(files.size).toBe(6)
    for (const statement of statements)
      for (const [form, extension] of [
        ['pdf', 'pdf'],
        ['csv', 'csv'],
        ['camt053', 'xml'],
      ] as const) {
        const name = `statement-2026-02-${statement.iban ?? statement.walletId}.${extension}`
        expect(files.get(name)?.equals(await read(statement, form, old.key))).toBe(true)
      }
  })

  test('is of the last full month unless it names one, and is refused for a month without statements', async () => {
    const { key: token } = await service.owner()
    const none = await exported(token, '')
    expect([none.status, none.headers.get('x-error-code')]).toEqual([404, 'no_statements'])
    expect((await exported(token, '?period=2026-13')).status).toBe(400)
    const old = await anOldWallet()
    const now = new Date()
    const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
    await old.fund(cents(100n), last)
    const { period } = await old.draw(last.toISOString().slice(0, 7))
    const response = await exported(old.key, '')
    expect(response.headers.get('content-disposition')).toContain(`statements-${period}.zip`)
    expect(filesIn(Buffer.from(await response.arrayBuffer())).size).toBe(3)
  })
})

import { expect, test } from '@jest/globals'
import { writePain001 } from '../../src/iso20022/pain001.ts'
import { renderCamt053 } from '../../src/money/statements/camt053.ts'
import type { StatementMovement } from '../../src/money/statements/movements.ts'
import type { Statement } from '../../src/money/statements/statement.ts'
import { type Cents, cents, NO_CENTS } from '../../src/values/money.ts'
import { runPeer } from '../support/processes/peer.ts'

const readInPython = async (file: string): Promise<unknown> =>
  JSON.parse(await runPeer('python3', ['test/peers/bank_files.py'], file))

test('a Python program reads the payments of our pain.001, to the cent', async () => {
  const payment = (endToEndId: string, amountCents: Cents, name: string) => ({
    endToEndId,
    amountCents,
    payerIban: null,
    payee: { name, iban: 'NL91ABNA0417164300', bic: null },
    reference: 'Books, papers (2)',
  })
  const file = writePain001(
    {
      messageId: '01jd8x2m4ye7k9v0c3q5r6t8wz',
      madeAt: new Date('2026-11-20T08:00:00.000Z'),
      executeOn: '2026-11-20',
      scheme: 'sct',
      payments: [payment('e1', cents(1n), 'Baeckerei'), payment('e2', cents(99_999_999_999n), 'Mueller')],
    },
    { name: 'Agent Payments', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
  )
  expect(await readInPython(file)).toMatchObject({
    count: 2,
    controlSum: '1000000000.00',
    sum: '1000000000.00',
    currencies: ['EUR'],
    payees: ['Baeckerei', 'Mueller'],
    ibans: ['NL91ABNA0417164300', 'NL91ABNA0417164300'],
    references: ['Books, papers (2)', 'Books, papers (2)'],
  })
})

const bookedAt = new Date('2026-11-20T08:00:00.000Z')

const statement = {
  id: 'statement_01jd8x2m4ye7k9v0c3q5r6t8wz',
  walletId: 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz',
  period: '2026-11',
  status: 'final',
  currency: 'EUR',
  holder: 'Müller & Söhne',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
  from: new Date('2026-11-01T00:00:00.000Z'),
  to: new Date('2026-12-01T00:00:00.000Z'),
  updatedAt: new Date('2026-12-01T00:05:00.000Z'),
  openingCents: cents(-5n),
  inCents: cents(10_000n),
  outCents: cents(2_501n),
  closingCents: cents(7_494n),
  movements: 2n,
  beforeVersion: 0n,
  lastVersion: 2n,
} as Statement

const movement = (postingId: string, amountCents: Cents, reference: string) =>
  ({
    postingId,
    kind: { code: 'ESCT', words: 'Transfer' },
    bookedAt,
    valueDate: '2026-11-20',
    amountCents,
    balanceCents: NO_CENTS,
    name: 'Bookshop <Amsterdam>',
    iban: 'NL91ABNA0417164300',
    walletId: null,
    reference,
    endToEndId: null,
    original: null,
  }) as StatementMovement

async function* pages(): AsyncGenerator<readonly StatementMovement[]> {
  yield [movement('posting_1', cents(10_000n), 'Salary & <more>')]
  yield [movement('posting_2', cents(-2_501n), 'Brötchen')]
}

test('a Python program reads our camt.053, whose entries sum to its balance', async () => {
  let file = ''
  for await (const piece of renderCamt053(statement, pages())) file += piece
  expect(await readInPython(file)).toEqual({
    entries: 2,
    opening: '-0.05',
    closing: '74.94',
    computed: '74.94',
    references: ['Salary & <more>', 'Brötchen'],
  })
})

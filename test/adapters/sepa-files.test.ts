import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { nextCutoff, sepaFileRail } from '../../src/adapters/sepa-rail/files.ts'
import { outboundFolder } from '../../src/adapters/sepa-rail/folder.ts'
import { pain001Schema, writePain001 } from '../../src/iso20022/pain001.ts'
import { elementsAt, parseXml, textAt } from '../../src/iso20022/xml-reader.ts'
import { schemaViolation } from '../../src/iso20022/xml-schema.ts'
import { xmlElement } from '../../src/iso20022/xml-writer.ts'
import type { PaymentFileOrder, SepaPayment } from '../../src/ports/sepa-rail.ts'
import { bankDayOnOrAfter, isBankDay } from '../../src/values/bank-calendar.ts'
import { type Cents, cents, NO_CENTS } from '../../src/values/money.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const debtor = { name: 'Agent Payments Öffentlich & Co', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' }

const payment = (endToEndId: string, amountCents: Cents) => ({
  endToEndId,
  amountCents,
  payerIban: null,
  payee: { name: 'Baeckerei Mueller', iban: 'NL91ABNA0417164300', bic: null },
  reference: 'Invoice 4711',
})

const order: PaymentFileOrder = {
  messageId: '01jd8x2m4ye7k9v0c3q5r6t8wz',
  madeAt: new Date('2026-11-20T08:00:00.000Z'),
  executeOn: '2026-11-20',
  scheme: 'sct',
  payments: [payment('e1', cents(1n)), payment('e2', cents(99_999_999_999n))],
}

async function nothing(): Promise<void> {}
async function neverCalled(): Promise<never> {
  throw new Error('it is not asked')
}

describe('a payment order', () => {
  test('is a message whose totals equal the sum of its payments, to the cent', () => {
    const document = parseXml(writePain001(order, debtor))
    const [body] = document.children
    expect(document.namespace).toBe('urn:iso:std:iso:20022:tech:xsd:pain.001.001.09')
    for (const place of ['GrpHdr', 'PmtInf']) {
      expect(body && textAt(body, `${place}/NbOfTxs`)).toBe('2')
      expect(body && textAt(body, `${place}/CtrlSum`)).toBe('1000000000.00')
    }
    expect(body && elementsAt(body, 'PmtInf/CdtTrfTxInf/Amt/InstdAmt').map(({ text }) => text)).toEqual([
      '0.01',
      '999999999.99',
    ])
    expect(body && textAt(body, 'PmtInf/Dbtr/Nm')).toBe('Agent Payments Oeffentlich + Co')
    expect(body && elementsAt(body, 'PmtInf/PmtTpInf/LclInstrm')).toEqual([])
  })

  test('for instant payments is marked INST, and names NOTPROVIDED for a bank without a BIC', () => {
    const message = writePain001({ ...order, scheme: 'sct_inst' }, { ...debtor, bic: null })
    expect(message).toContain('<LclInstrm><Cd>INST</Cd></LclInstrm>')
    expect(message).toContain('<DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt>')
  })

  test.each<[string, Partial<PaymentFileOrder>]>([
    ['without payments', { payments: [] }],
    ['of nothing', { payments: [payment('e1', NO_CENTS)] }],
    ['above what SEPA carries', { payments: [payment('e1', cents(100_000_000_000n))] }],
    [
      'to a name in other letters',
      {
        payments: [
          { ...payment('e1', cents(1n)), payee: { name: 'Ö', iban: 'NL91ABNA0417164300', bic: null } },
        ],
      },
    ],
    ['under a name that is too long', { payments: [payment('e'.repeat(36), cents(1n))] }],
    ['under a name that begins with a slash', { payments: [payment('/e', cents(1n))] }],
    ['on no day', { executeOn: '' }],
  ])('%s is refused', (_, wrong) => {
    expect(() => writePain001({ ...order, ...wrong }, debtor)).toThrow(/cannot be ordered/)
  })

  test('has exactly the elements of the schema, in their order', () => {
    const shapeOf = (message: string) => {
      const document = parseXml(message)
      return schemaViolation({ ...document, attributes: new Map() }, pain001Schema)
    }
    const message = writePain001(order, debtor)
    expect(shapeOf(message)).toBeUndefined()
    const wrong: [RegExp, string, RegExp][] = [
      [/<ChrgBr>SLEV<\/ChrgBr>/, '', /PmtInf\/ChrgBr is missing/],
      [/SLEV/, 'SHAR', /ChrgBr is not right: SHAR/],
      [/ Ccy="EUR"/, ' Ccy="USD"', /InstdAmt\/@Ccy/],
      [/ Ccy="EUR"/, ' Ccy="EUR" More="1"', /an unexpected attribute/],
      [/<PmtMtd>TRF<\/PmtMtd>(<BtchBookg>false<\/BtchBookg>)/, '$1<PmtMtd>TRF</PmtMtd>', /PmtMtd is missing/],
      [/<\/PmtInf>/, '</PmtInf><PmtInf/>', /PmtInf is not allowed there/],
      [/<Dbtr>/, '<Dbtr>text', /Dbtr has text/],
      [/<Cd>SEPA<\/Cd>/, '<Cd><Cd/></Cd>', /Cd has elements in it/],
    ]
    for (const [what, by, why] of wrong) expect(shapeOf(message.replace(what, by))).toMatch(why)
    expect(schemaViolation(xmlElement('Other', []), pain001Schema)).toMatch(/CstmrCdtTrfInitn is missing/)
  })
})

describe('the calendar of bank days', () => {
  test.each([
    ['2026-01-01', false],
    ['2026-04-02', true],
    ['2026-04-03', false],
    ['2026-04-06', false],
    ['2026-04-07', true],
    ['2026-05-01', false],
    ['2026-05-14', true],
    ['2026-11-20', true],
    ['2026-11-21', false],
    ['2026-12-24', true],
    ['2026-12-25', false],
    ['2027-03-26', false],
    ['2027-03-29', false],
    ['2024-03-29', false],
    ['2025-04-21', false],
    ['2038-04-26', false],
  ])('answers for %s: %s', (day, settles) => {
    expect(isBankDay(day)).toBe(settles)
  })

  test('finds the next bank day across the longest closures', () => {
    expect(bankDayOnOrAfter('2026-12-25')).toBe('2026-12-28')
    expect(bankDayOnOrAfter('2026-04-03')).toBe('2026-04-07')
  })
})

describe('a payment is put into the file', () => {
  const times = ['09:00', '15:00']
  test.each([
    ['of the next cut-off', '2026-11-20T07:59:59.999Z', '2026-11-20T08:00:00.000Z', '2026-11-20'],
    [
      'of the one after it, at the very moment',
      '2026-11-20T08:00:00.000Z',
      '2026-11-20T14:00:00.000Z',
      '2026-11-20',
    ],
    [
      'of Monday, after the last one of Friday',
      '2026-11-20T14:00:00.000Z',
      '2026-11-23T08:00:00.000Z',
      '2026-11-23',
    ],
    ['of the day after Easter', '2026-04-02T13:00:00.000Z', '2026-04-07T07:00:00.000Z', '2026-04-07'],
    ['by the clock of summer', '2026-07-01T06:30:00.000Z', '2026-07-01T07:00:00.000Z', '2026-07-01'],
    [
      'of the day that it is in Frankfurt',
      '2026-11-22T23:30:00.000Z',
      '2026-11-23T08:00:00.000Z',
      '2026-11-23',
    ],
  ])('%s', (_, at, closesAt, executeOn) => {
    expect(nextCutoff('sct', new Date(at), times)).toEqual({ closesAt: new Date(closesAt), executeOn })
  })

  test('that leaves at once, on any day, if it is instant', () => {
    const sunday = new Date('2026-11-22T12:00:00.000Z')
    expect(nextCutoff('sct_inst', sunday, times)).toEqual({ closesAt: sunday, executeOn: '2026-11-22' })
  })
})

const railOf = (reportHours: number) =>
  sepaFileRail({
    ...{ debtor, cutOffs: ['09:00'], reportHours },
    files: { stage: nothing, release: nothing },
    queue: { put: async () => null, statusOf: async () => null, remove: neverCalled },
  })

describe('the rail by files', () => {
  const rail = railOf(4)
  const instantPayment: SepaPayment = {
    ...payment('e1', cents(1n)),
    ownerId: 'customer_1',
    scheme: 'sct_inst',
    submittedAt: order.madeAt,
    until: null,
    at: order.madeAt,
  }
  const call = { reference: 'transfer_1', requestId: 'request-1' }

  test('rejects a payment that the bank would refuse, and one whose time is over', async () => {
    const nobody = { ...instantPayment.payee, name: '' }
    expect(await rail.submit({ ...instantPayment, payee: nobody }, call)).toEqual({
      status: 'rejected',
      reasonCode: 'FF01',
    })
    expect(await rail.submit(instantPayment, call)).toEqual({
      status: 'rejected',
      reasonCode: 'TM01',
    })
  })
})

describe('the bank’s report on a file is late', () => {
  test.each([
    ['on the same day', 4, '2026-11-20T14:00:00.000Z', '2026-11-20T18:00:00.000Z'],
    ['at the end of a bank day', 9, '2026-11-20T14:00:00.000Z', '2026-11-20T23:00:00.000Z'],
    ['over a weekend', 10, '2026-11-20T14:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['counted from the next bank day', 4, '2026-11-21T14:00:00.000Z', '2026-11-23T03:00:00.000Z'],
    ['over Easter, with four holidays', 24, '2026-04-02T14:00:00.000Z', '2026-04-07T14:00:00.000Z'],
    ['over the change to summer time', 24, '2026-03-27T14:00:00.000Z', '2026-03-30T13:00:00.000Z'],
    ['after ten bank days', 240, '2026-11-20T14:00:00.000Z', '2026-12-04T14:00:00.000Z'],
  ])('%s', (_, hours, handedOver, late) => {
    expect(railOf(hours).reportDueAt('sct', new Date(handedOver))).toEqual(new Date(late))
  })

  test('never, where none is awaited: for an instant payment, and from a bank that sends none', () => {
    const now = new Date('2026-11-20T14:00:00.000Z')
    expect(railOf(4).reportDueAt('sct_inst', now)).toBeNull()
    expect(railOf(0).reportDueAt('sct', now)).toBeNull()
  })
})

describe('the folder shared with the bank', () => {
  const folder = temporaryFolder()
  const out = outboundFolder(folder)
  const outgoing = () => readdirSync(join(folder, 'out'))

  test('gets each file whole, readable by its owner only, and once, however often it is released', async () => {
    await out.stage('a.xml', '<a/>')
    expect(outgoing()).toEqual([])
    await out.stage('a.xml', '<a/>')
    await out.release('a.xml')
    const path = join(folder, 'out', 'a.xml')
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['<a/>', 0o600])
    rmSync(path)
    await out.release('a.xml')
    expect(outgoing()).toEqual([])
    expect(readdirSync(join(folder, 'sent'))).toEqual(['a.xml'])
  })

  test('refuses to release a file that was staged in another folder', async () => {
    await expect(out.release('other.xml')).rejects.toThrow(/ENOENT/)
    await expect(outboundFolder(join(folder, 'unmounted')).release('a.xml')).rejects.toThrow(/ENOENT/)
  })

  test('fails if it cannot be written to', async () => {
    mkdirSync(join(folder, '.staged', 'b.xml'))
    await expect(out.stage('b.xml', '<b/>')).rejects.toThrow()
  })
})

import { describe, expect, test } from '@jest/globals'
import { aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { startBooks } from '../../support/money/books.ts'
import { type Booking, camt, payment } from '../../support/money/camt.ts'
import { incomingFilesIn, newReference } from '../../support/money/incoming-files.ts'

const { service, client } = await startBooks()
const owner = await service.owner()
const live = await aLiveClient(service, owner)
const { balanceOf, creditsOf, read } = incomingFilesIn({ service, client, live })

describe('an entry is skipped', () => {
  test.each<[string, Booking]>([
    ['not_a_credit', { direction: 'DBIT' }],
    ['not_euro', { currency: 'USD' }],
    ['not_booked', { status: 'PDNG' }],
    ['reversal', { more: '<RvslInd>true</RvslInd>' }],
    ['returned_payment', { details: [payment({ more: '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>' })] }],
    ['amount_unreadable', { amount: '0.00' }],
    ['amount_unreadable', { amount: '1.234' }],
    ['amount_unreadable', { amount: '-5.00' }],
    ['amount_unreadable', { amount: '1e3' }],
    ['amount_unreadable', { amount: '' }],
    ['amount_unreadable', { amount: '10000000000.00' }],
  ])('as %s: %j', async (reason, booking) => {
    const reference = newReference()
    const file = await bodyOf(read(camt([{ reference, ...booking }, { reference: newReference() }])))
    expect(file).toMatchObject({ entries: 2, unmatched: 1, skipped: [{ bankReference: reference, reason }] })
    expect(await creditsOf(reference)).toEqual([])
  })

  test('if the bank’s reference is too long', async () => {
    const file = await bodyOf(read(camt([{ reference: 'X'.repeat(5_000) }])))
    expect(file.skipped).toEqual([{ bankReference: null, reason: 'no_bank_reference' }])
  })

  test('if the bank’s reference is missing or repeated', async () => {
    const reference = newReference()
    const numbered = payment({ more: '' }).replace(
      '<Refs>',
      `<Refs><AcctSvcrRef>${newReference()}</AcctSvcrRef>`,
    )
    expect(await bodyOf(read(camt([{ details: [numbered] }])))).toMatchObject({ unmatched: 1, skipped: [] })
    expect(await bodyOf(read(camt([{}, { reference }, { reference }])))).toMatchObject({
      unmatched: 1,
      skipped: [
        { bankReference: null, reason: 'no_bank_reference' },
        { bankReference: reference, reason: 'repeated_reference' },
      ],
    })
  })
})

test('a file with many bookings credits each once, to the wallet that it names', async () => {
  const [first, second] = [await aWallet(client), await aWallet(client)]
  const bookings = Array.from({ length: 450 }, (_, n) => ({
    reference: `${newReference()}-${n}`,
    amount: '1.00',
    details: [payment(n % 3 === 0 ? {} : { iban: String(n % 3 === 1 ? first.iban : second.iban) })],
  }))
  const xml = camt(bookings)
  expect(await bodyOf(read(xml))).toMatchObject({ entries: 450, matched: 300, unmatched: 150, known: 0 })
  expect([await balanceOf(first.id), await balanceOf(second.id)]).toEqual([150, 150])
  expect(await bodyOf(read(xml))).toMatchObject({ matched: 0, unmatched: 0, known: 450 })
})

describe('a booking with many payments', () => {
  test('becomes one credit for each payment', async () => {
    const [first, second] = [await aWallet(client), await aWallet(client)]
    const details = [
      payment({ iban: String(first.iban), amount: '10.00' }),
      payment({ iban: String(second.iban), amount: '15.00' }),
    ]
    const xml = camt([{ reference: newReference(), details }])
    expect(await bodyOf(read(xml))).toMatchObject({ entries: 1, matched: 2 })
    expect([await balanceOf(first.id), await balanceOf(second.id)]).toEqual([10, 15])
    expect(await bodyOf(read(xml))).toMatchObject({ matched: 0, known: 2 })
  })

  test.each([
    ['do not sum to it', ['10.00', '14.99']],
    ['are not all told', ['25.00', '']],
  ])('that %s becomes one unmatched credit', async (_, amounts) => {
    const { id, iban } = await aWallet(client)
    const reference = newReference()
    const details = amounts.map(amount => payment({ iban: String(iban), amount }))
    expect(await bodyOf(read(camt([{ reference, details }])))).toMatchObject({ matched: 0, unmatched: 1 })
    expect(await creditsOf(reference)).toMatchObject([{ reason: 'parts_do_not_sum', amountEuros: 25 }])
    expect(await balanceOf(id)).toBe(0)
  })

  test('is not credited again in parts if it was credited as a sum', async () => {
    const { id, iban } = await aWallet(client)
    const reference = newReference()
    await bodyOf(read(camt([{ reference, details: [] }])))
    const details = ['10.00', '15.00'].map(amount => payment({ iban: String(iban), amount }))
    expect(await bodyOf(read(camt([{ reference, details }], { kind: 'camt.054' })))).toMatchObject({
      matched: 0,
      known: 2,
    })
    expect(await balanceOf(id)).toBe(0)
  })
})

test.each(['0000-01-01', '0000-12-31', '2026-02-30', '2026-13-01'])(
  'a credit of %s, which is no date, counts as of today',
  async date => {
    const reference = newReference()
    const file = await bodyOf(read(camt([{ reference }]).replace('2026-11-19', date)))
    expect(file).toMatchObject({ unmatched: 1, skipped: [] })
    expect(await creditsOf(reference)).toMatchObject([{ valueDate: new Date().toISOString().slice(0, 10) }])
  },
)

describe('a hostile file is refused', () => {
  const inside = (doctype: string, text: string) =>
    camt([{ reference: 'HOSTILE', details: [payment({ text })] }]).replace('?>', `?>${doctype}`)
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('')

  test.each<[string, string, RegExp]>([
    [
      'that reads another file',
      inside('<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '&x;'),
      /document type/,
    ],
    [
      'that asks another server',
      inside('<!DOCTYPE d SYSTEM "http://127.0.0.1:1/d.dtd">', 'x'),
      /document type/,
    ],
    ['that grows', inside(`<!DOCTYPE d [<!ENTITY l0 "ha">${laughs}]>`, '&l9;'), /document type/],
    ['in small letters too', inside('<!doctype d>', 'x'), /document type/],
    ['with an entity of its own', inside('', '&x;'), /well-formed/],
    ['with an entity of HTML', inside('', '&nbsp;'), /well-formed/],
    ['that is deep', `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`, /nested more than 32/],
    ['that is deep inside', inside('', '<a>'.repeat(40) + '</a>'.repeat(40)), /nested more than 32/],
    ['with half a character', inside('', '&#xD800;'), /invalid character|well-formed/],
    ['with no character', inside('', '&#0;'), /invalid character|well-formed/],
    ['that ends too early', inside('', 'x').slice(0, -30), /well-formed/],
    ['that goes on', `${inside('', 'x')}<more/>`, /well-formed/],
    ['with a prefix of nothing', inside('', '<x:y/>'), /well-formed/],
    ['that is no XML', 'MSG-1;25.00;EUR', /well-formed/],
    [
      'of another kind',
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn/></Document>',
      /neither/,
    ],
    ['that is of one kind and says another', camt([]).replace('camt.053', 'camt.054'), /neither/],
    ['that tells what is not booked', camt([]).replaceAll('camt.053', 'camt.052'), /neither/],
    ['without a message id', camt([]).replace(/<GrpHdr>.*<\/GrpHdr>/, ''), /MsgId/],
    ['without an account', camt([]).replace(/<Acct>.*<\/Acct>/, ''), /without an account/],
    [
      'of more bookings than one transaction takes',
      camt([]).replace('</Stmt>', `${'<Ntry/>'.repeat(10_001)}</Stmt>`),
      /more than 10000 bookings/,
    ],
    ['in an encoding that there is not', camt([]).replace('UTF-8', 'utf-7'), /utf-7/],
  ])('%s', async (_, xml, why) => {
    const answer = await read(xml)
    expect(answer).toMatchObject({ status: 400, code: 'file_unreadable' })
    expect(answer.error).toMatch(why)
    expect(answer.error).not.toMatch(/root:/)
    expect(await creditsOf('HOSTILE')).toEqual([])
  })

  test('if its bytes are no text, or no Base64', async () => {
    expect((await read(Buffer.from([0x3c, 0xff, 0xfe]))).code).toBe('file_unreadable')
    const body = { content: '***', mode: 'test' as const }
    expect((await service.dash.incoming.readFile({ body })).code).toBe('invalid_request')
  })

  test('if it has ten megabytes, before it is read', async () => {
    expect((await read(`<a>${'x'.repeat(10_000_000)}</a>`)).status).toBe(413)
  })

  test('as a whole if only its end is broken', async () => {
    const { id, iban } = await aWallet(client)
    const xml = camt([{ reference: newReference(), details: [payment({ iban: String(iban) })] }])
    expect((await read(xml.replace('</Document>', ''))).status).toBe(400)
    expect(await balanceOf(id)).toBe(0)
  })
})

import { describe, expect, test } from '@jest/globals'
import { HOUSE } from '../../src/identity/customers/customers.ts'
import { referenceOf } from '../../src/money/billing/reference.ts'
import { startBooks } from '../support/books.ts'
import { type Booking, camt, payment } from '../support/camt.ts'
import { aLiveClient, aWallet, made } from '../support/factories.ts'
import { times } from '../support/pot-house.ts'
import { traceOf } from '../support/trace.ts'

const { house, client } = await startBooks()
const owner = await house.owner()
const live = await aLiveClient(house, owner)

let numbered = 0
/** A bank's reference that was never used. */
const fresh = () => `REF${++numbered}`

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const read = (xml: string | Buffer, mode: 'test' | 'live' = 'test') =>
  house.dash.incoming.readFile({ body: { content: base64(xml), mode } })
const balanceOf = async (id: string, by = client) =>
  (await made(by.wallets.get({ params: { id } }))).availableEuros
const creditsOf = async (bankReference: string) => {
  const { data } = await made(house.dash.incoming.list({ query: { limit: 100 } }))
  return data.filter(one => one.bankReference === bankReference)
}
const referenceOfWallet = async (id: string): Promise<string> => {
  const [row] = await house.sql<{ number: string }>(
    'select reference_number as number from wallets where id = $1',
    [id],
  )
  return referenceOf(BigInt(row?.number ?? 0))
}
const proven = async () => {
  for (const mode of ['test', 'live'] as const)
    expect(
      await made(house.dash.ledger.verifyOwner({ params: { id: HOUSE }, body: { mode } })),
    ).toMatchObject({
      ok: true,
      problems: [],
    })
  for (const by of [client, live]) expect(await made(by.ledger.verify({}))).toMatchObject({ ok: true })
}

describe('a file of the bank', () => {
  test.each([
    ['camt.053', '02'],
    ['camt.053', '08'],
    ['camt.054', '02'],
    ['camt.054', '08'],
  ] as const)('%s.001.%s brings its credits into the wallets', async (kind, version) => {
    const [byIban, byReference] = [await aWallet(client), await aWallet(client)]
    const reference = fresh()
    const xml = camt(
      [
        { reference, amount: '12.5', details: [payment({ iban: String(byIban.iban), text: 'Hello' })] },
        {
          reference: fresh(),
          amount: '7.000',
          details: [payment({ text: `Invoice ${await referenceOfWallet(byReference.id)}` })],
        },
        { reference: fresh(), details: [payment({ text: 'for nobody' })] },
      ],
      { kind, version },
    )
    const answer = await read(xml)
    expect(answer).toMatchObject({
      status: 200,
      body: { messageId: 'MSG-1', entries: 3, matched: 2, unmatched: 1, known: 0, skipped: [] },
    })
    expect([await balanceOf(byIban.id), await balanceOf(byReference.id)]).toEqual([12.5, 7])
    expect(await creditsOf(reference)).toMatchObject([
      {
        status: 'matched',
        source: 'bank',
        walletId: byIban.id,
        iban: byIban.iban,
        senderName: 'Adler GmbH',
        senderIban: 'NL91ABNA0417164300',
        endToEndId: 'INV-17',
        reference: 'Hello',
        valueDate: '2026-11-19',
      },
    ])
    expect((await traceOf(house, answer))?.events.toSorted()).toEqual([
      'incoming.file_read',
      'incoming.received',
      'incoming.received',
      'incoming.received',
      'wallet.credited',
      'wallet.credited',
    ])
    await proven()
  })

  test('brings live money to live wallets, by their reference, and to no test wallet', async () => {
    const [own, pretended] = [await aWallet(live), await aWallet(client)]
    const text = await referenceOfWallet(own.id)
    const xml = camt([
      { reference: fresh(), amount: '40.00', details: [payment({ text })] },
      { reference: fresh(), details: [payment({ iban: String(pretended.iban) })] },
    ])
    expect(await made(read(xml, 'live'))).toMatchObject({ matched: 1, unmatched: 1 })
    expect([await balanceOf(own.id, live), await balanceOf(pretended.id)]).toEqual([40, 0])
    await proven()
  })

  test('is of wallets of many owners', async () => {
    const owners = await times(3, () => house.owner())
    const wallets = await Promise.all(owners.map(one => aWallet(one.client)))
    const bookings = wallets.map(({ iban }) => ({
      reference: fresh(),
      details: [payment({ iban: String(iban) })],
    }))
    expect(
      await made(read(camt([...bookings, ...bookings.map(one => ({ ...one, reference: fresh() }))]))),
    ).toMatchObject({ matched: 6 })
    for (const [index, { id }] of wallets.entries())
      expect(await balanceOf(id, owners[index]?.client)).toBe(50)
    const events = owners.map(one => made(one.client.events.list({ query: { event: 'wallet.credited' } })))
    expect((await Promise.all(events)).map(({ data }) => data.length)).toEqual([2, 2, 2])
  })

  test('read again changes nothing, nor does the same booking in the other message', async () => {
    const { id, iban } = await aWallet(client)
    const bookings = [{ reference: fresh(), details: [payment({ iban: String(iban) })] }]
    await made(read(camt(bookings)))
    for (const kind of ['camt.053', 'camt.054'] as const)
      expect(await made(read(camt(bookings, { kind })))).toMatchObject({ matched: 0, unmatched: 0, known: 1 })
    expect(await balanceOf(id)).toBe(25)
  })

  test('read by ten at once changes what it changes once', async () => {
    const wallets = await times(5, () => aWallet(client))
    const xml = camt(
      wallets.map(({ iban }) => ({ reference: fresh(), details: [payment({ iban: String(iban) })] })),
    )
    const files = await times(10, () => made(read(xml)))
    expect(files.map(({ matched }) => matched).toSorted((a, b) => a - b)).toEqual([...Array(9).fill(0), 5])
    for (const { id } of wallets) expect(await balanceOf(id)).toBe(25)
    await proven()
  })

  test('may be as large as a body: a thousand bookings at once', async () => {
    const { id, iban } = await aWallet(client)
    const bookings = Array.from({ length: 1_000 }, () => ({
      reference: fresh(),
      amount: '0.01',
      details: [payment({ iban: String(iban) })],
    }))
    expect(await made(read(camt(bookings)))).toMatchObject({ entries: 1_000, matched: 1_000 })
    expect(await balanceOf(id)).toBe(10)
    await proven()
  })

  test('may be written with prefixes, in another encoding, with a mark at its beginning', async () => {
    const written = camt([{ reference: fresh(), details: [payment({ text: 'Bäckerei' })] }])
    const prefixed = written
      .replace('xmlns=', 'xmlns:b=')
      .replace(/<(\/?)([A-Z])/g, '<$1b:$2')
      .replaceAll(/REF\d+/g, fresh())
    expect(await made(read(prefixed))).toMatchObject({ unmatched: 1 })
    const latin = written.replace('UTF-8', 'ISO-8859-1').replace(/REF\d+/, 'LATIN')
    expect(await made(read(Buffer.from(latin, 'latin1')))).toMatchObject({ unmatched: 1 })
    expect((await creditsOf('LATIN'))[0]?.reference).toBe('Bäckerei')
    expect(await made(read(`\uFEFF${written}`))).toMatchObject({ unmatched: 1 })
  })
})

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
    const reference = fresh()
    const file = await made(read(camt([{ reference, ...booking }, { reference: fresh() }])))
    expect(file).toMatchObject({ entries: 2, unmatched: 1, skipped: [{ bankReference: reference, reason }] })
    expect(await creditsOf(reference)).toEqual([])
  })

  test('where the reference of the bank is no reference', async () => {
    const file = await made(read(camt([{ reference: 'X'.repeat(5_000) }])))
    expect(file.skipped).toEqual([{ bankReference: null, reason: 'no_bank_reference' }])
  })

  test('without a reference of the bank, and where the same one stands twice', async () => {
    const reference = fresh()
    const numbered = payment({ more: '' }).replace('<Refs>', `<Refs><AcctSvcrRef>${fresh()}</AcctSvcrRef>`)
    expect(await made(read(camt([{ details: [numbered] }])))).toMatchObject({ unmatched: 1, skipped: [] })
    expect(await made(read(camt([{}, { reference }, { reference }])))).toMatchObject({
      unmatched: 1,
      skipped: [
        { bankReference: null, reason: 'no_bank_reference' },
        { bankReference: reference, reason: 'repeated_reference' },
      ],
    })
  })
})

describe('a booking of many payments', () => {
  test('is as many credits', async () => {
    const [one, two] = [await aWallet(client), await aWallet(client)]
    const details = [
      payment({ iban: String(one.iban), amount: '10.00' }),
      payment({ iban: String(two.iban), amount: '15.00' }),
    ]
    const xml = camt([{ reference: fresh(), details }])
    expect(await made(read(xml))).toMatchObject({ entries: 1, matched: 2 })
    expect([await balanceOf(one.id), await balanceOf(two.id)]).toEqual([10, 15])
    expect(await made(read(xml))).toMatchObject({ matched: 0, known: 2 })
  })

  test.each([
    ['do not sum to it', ['10.00', '14.99']],
    ['are not all told', ['25.00', '']],
  ])('that %s stays one, for a person', async (_, amounts) => {
    const { id, iban } = await aWallet(client)
    const reference = fresh()
    const details = amounts.map(amount => payment({ iban: String(iban), amount }))
    expect(await made(read(camt([{ reference, details }])))).toMatchObject({ matched: 0, unmatched: 1 })
    expect(await creditsOf(reference)).toMatchObject([{ reason: 'parts_do_not_sum', amountEuros: 25 }])
    expect(await balanceOf(id)).toBe(0)
  })

  test('that came as a sum before is not credited again in its parts', async () => {
    const { id, iban } = await aWallet(client)
    const reference = fresh()
    await made(read(camt([{ reference, details: [] }])))
    const details = ['10.00', '15.00'].map(amount => payment({ iban: String(iban), amount }))
    expect(await made(read(camt([{ reference, details }], { kind: 'camt.054' })))).toMatchObject({
      matched: 0,
      known: 2,
    })
    expect(await balanceOf(id)).toBe(0)
  })
})

describe('what lies on the ledger of the house', () => {
  test.each(['test', 'live'] as const)('is handed over to the wallet of an owner (%s)', async mode => {
    const by = mode === 'test' ? client : live
    const reference = fresh()
    await made(read(camt([{ reference, amount: '99.01' }]), mode))
    const [credit] = await creditsOf(reference)
    expect(credit).toMatchObject({ ownerId: HOUSE, mode, status: 'unmatched', reason: 'no_wallet' })
    const wallet = await aWallet(by)
    const assign = () =>
      house.dash.incoming.assign({ params: { id: String(credit?.id) }, body: { walletId: wallet.id } })
    const answers = await times(5, assign)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await balanceOf(wallet.id, by)).toBe(99.01)
    const [after] = await creditsOf(reference)
    expect(after).toMatchObject({ walletId: wallet.id, status: 'assigned' })
    expect(after?.ownerId).not.toBe(HOUSE)
    await proven()
  })

  test('is unmatched money and nothing else', async () => {
    const [books] = await house.sql(
      `select (select coalesce(sum(posted_cents), 0)::text from ledger_accounts where owner_id = $1 and kind = 'suspense') as lies,
         (select coalesce(sum(amount_cents), 0)::text from incoming_credits where owner_id = $1 and status = 'unmatched') as waits`,
      [HOUSE],
    )
    expect(books?.lies).toBe(books?.waits)
  })
})

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
    ['with half a character', inside('', '&#xD800;'), /no character|well-formed/],
    ['with no character', inside('', '&#0;'), /no character|well-formed/],
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
    ['in an encoding that there is not', camt([]).replace('UTF-8', 'utf-7'), /utf-7/],
  ])('%s', async (_, xml, why) => {
    const answer = await read(xml)
    expect(answer).toMatchObject({ status: 400, code: 'file_unreadable' })
    expect(answer.error).toMatch(why)
    expect(answer.error).not.toMatch(/root:/)
    expect(await creditsOf('HOSTILE')).toEqual([])
  })

  test('of bytes that are no text, or no Base64', async () => {
    expect((await read(Buffer.from([0x3c, 0xff, 0xfe]))).code).toBe('file_unreadable')
    const body = { content: '***', mode: 'test' as const }
    expect((await house.dash.incoming.readFile({ body })).code).toBe('invalid_request')
  })

  test('of ten megabytes before it is read', async () => {
    expect((await read(`<a>${'x'.repeat(10_000_000)}</a>`)).status).toBe(413)
  })

  test('that is broken at its end brings nothing of its beginning', async () => {
    const { id, iban } = await aWallet(client)
    const xml = camt([{ reference: fresh(), details: [payment({ iban: String(iban) })] }])
    expect((await read(xml.replace('</Document>', ''))).status).toBe(400)
    expect(await balanceOf(id)).toBe(0)
  })
})

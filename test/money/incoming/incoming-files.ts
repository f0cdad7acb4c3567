import { describe, expect, test } from '@jest/globals'
import { PLATFORM_OWNER_ID } from '../../../src/identity/customers/customer.ts'
import { times } from '../../support/at-once.ts'
import { aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { startBooks } from '../../support/money/books.ts'
import { camt, payment } from '../../support/money/camt.ts'
import { referenceIn } from '../../support/money/incoming.ts'
import { incomingFilesIn, newReference } from '../../support/money/incoming-files.ts'
import { traceOf } from '../../support/trace.ts'

const { service, client } = await startBooks()
const owner = await service.owner()
const live = await aLiveClient(service, owner)
const { proveLedgers, creditsOf, balanceOf, read } = incomingFilesIn({ service, client, live })

const referenceOfWallet = (id: string) => referenceIn(service, id)

describe('a file of the bank', () => {
  test.each([
    ['camt.053', '02'],
    ['camt.053', '08'],
    ['camt.054', '02'],
    ['camt.054', '08'],
  ] as const)('%s.001.%s brings its credits into the wallets', async (kind, version) => {
    const [byIban, byReference] = [await aWallet(client), await aWallet(client)]
    const reference = newReference()
    const xml = camt(
      [
        { reference, amount: '12.5', details: [payment({ iban: String(byIban.iban), text: 'Hello' })] },
        {
          reference: newReference(),
          amount: '7.000',
          details: [payment({ text: `Invoice ${await referenceOfWallet(byReference.id)}` })],
        },
        { reference: newReference(), details: [payment({ text: 'for nobody' })] },
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
    expect((await traceOf(service, answer))?.events.toSorted()).toEqual([
      'incoming.file_read',
      'incoming.received',
      'incoming.received',
      'incoming.received',
      'wallet.credited',
      'wallet.credited',
    ])
    await proveLedgers()
  })

  test('credits live wallets by reference, and no test wallet', async () => {
    const [own, pretended] = [await aWallet(live), await aWallet(client)]
    const text = await referenceOfWallet(own.id)
    const xml = camt([
      { reference: newReference(), amount: '40.00', details: [payment({ text })] },
      { reference: newReference(), details: [payment({ iban: String(pretended.iban) })] },
    ])
    expect(await bodyOf(read(xml, 'live'))).toMatchObject({ matched: 1, unmatched: 1 })
    expect([await balanceOf(own.id, live), await balanceOf(pretended.id)]).toEqual([40, 0])
    await proveLedgers()
  })

  test('can credit wallets of many owners', async () => {
    const owners = await times(3, () => service.owner())
    const wallets = await Promise.all(owners.map(owner => aWallet(owner.client)))
    const bookings = wallets.map(({ iban }) => ({
      reference: newReference(),
      details: [payment({ iban: String(iban) })],
    }))
    expect(
      await bodyOf(
        read(camt([...bookings, ...bookings.map(booking => ({ ...booking, reference: newReference() }))])),
      ),
    ).toMatchObject({ matched: 6 })
    for (const [index, { id }] of wallets.entries())
      expect(await balanceOf(id, owners[index]?.client)).toBe(50)
    const events = owners.map(owner =>
      bodyOf(owner.client.events.list({ query: { event: 'wallet.credited' } })),
    )
    expect((await Promise.all(events)).map(({ data }) => data.length)).toEqual([2, 2, 2])
  })

  test('changes nothing when read again, nor when the other kind of message repeats a booking', async () => {
    const { id, iban } = await aWallet(client)
    const bookings = [{ reference: newReference(), details: [payment({ iban: String(iban) })] }]
    await bodyOf(read(camt(bookings)))
    for (const kind of ['camt.053', 'camt.054'] as const)
      expect(await bodyOf(read(camt(bookings, { kind })))).toMatchObject({
        matched: 0,
        unmatched: 0,
        known: 1,
      })
    expect(await balanceOf(id)).toBe(25)
  })

  test('is applied once by ten concurrent requests', async () => {
    const wallets = await times(5, () => aWallet(client))
    const xml = camt(
      wallets.map(({ iban }) => ({ reference: newReference(), details: [payment({ iban: String(iban) })] })),
    )
    const files = await times(10, () => bodyOf(read(xml)))
    expect(files.map(({ matched }) => matched).toSorted((a, b) => a - b)).toEqual([...Array(9).fill(0), 5])
    for (const { id } of wallets) expect(await balanceOf(id)).toBe(25)
    await proveLedgers()
  })

  test('can have a thousand bookings, as large as a body may be', async () => {
    const { id, iban } = await aWallet(client)
    const bookings = Array.from({ length: 1_000 }, () => ({
      reference: newReference(),
      amount: '0.01',
      details: [payment({ iban: String(iban) })],
    }))
    expect(await bodyOf(read(camt(bookings)))).toMatchObject({ entries: 1_000, matched: 1_000 })
    expect(await balanceOf(id)).toBe(10)
    await proveLedgers()
  })

  test('can use namespace prefixes, another encoding and a byte order mark', async () => {
    const written = camt([{ reference: newReference(), details: [payment({ text: 'Bäckerei' })] }])
    const prefixed = written
      .replace('xmlns=', 'xmlns:b=')
      .replace(/<(\/?)([A-Z])/g, '<$1b:$2')
      .replaceAll(/REF\d+/g, newReference())
    expect(await bodyOf(read(prefixed))).toMatchObject({ unmatched: 1 })
    const latin = written.replace('UTF-8', 'ISO-8859-1').replace(/REF\d+/, 'LATIN')
    expect(await bodyOf(read(Buffer.from(latin, 'latin1')))).toMatchObject({ unmatched: 1 })
    expect((await creditsOf('LATIN'))[0]?.reference).toBe('Bäckerei')
    expect(await bodyOf(read(`\uFEFF${written}`))).toMatchObject({ unmatched: 1 })
  })
})

describe('money on the ledger of the platform', () => {
  test.each(['test', 'live'] as const)('can be assigned to the wallet of an owner (%s)', async mode => {
    const by = mode === 'test' ? client : live
    const reference = newReference()
    await bodyOf(read(camt([{ reference, amount: '99.01' }]), mode))
    const [credit] = await creditsOf(reference)
    expect(credit).toMatchObject({
      ownerId: PLATFORM_OWNER_ID,
      mode,
      status: 'unmatched',
      reason: 'no_wallet',
    })
    const wallet = await aWallet(by)
    const assign = () =>
      service.dash.incoming.assign({ params: { id: String(credit?.id) }, body: { walletId: wallet.id } })
    const answers = await times(5, assign)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await balanceOf(wallet.id, by)).toBe(99.01)
    const [after] = await creditsOf(reference)
    expect(after).toMatchObject({ walletId: wallet.id, status: 'assigned' })
    expect(after?.ownerId).not.toBe(PLATFORM_OWNER_ID)
    await proveLedgers()
  })

  test('is unmatched credits and nothing else', async () => {
    const [books] = await service.sql(
      `select (select coalesce(sum(posted_cents), 0)::text from ledger_accounts where owner_id = $1 and kind = 'suspense') as lies,
         (select coalesce(sum(amount_cents), 0)::text from incoming_credits where owner_id = $1 and status = 'unmatched') as waits`,
      [PLATFORM_OWNER_ID],
    )
    expect(books?.lies).toBe(books?.waits)
  })
})

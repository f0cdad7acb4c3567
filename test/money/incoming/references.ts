import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { creditorReferenceFor } from '../../../src/money/references/register.ts'
import { newId } from '../../../src/values/ids.ts'
import { times } from '../../support/at-once.ts'
import { aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { camt, payment } from '../../support/money/camt.ts'
import { referenceIn } from '../../support/money/incoming.ts'
import { incomingFilesIn, newReference as newBooking } from '../../support/money/incoming-files.ts'
import { payerArea } from '../../support/money/payer-noun.ts'

const service = await startTestService({ areas: { ...areas, payer: payerArea } })
const owner = await service.owner()
const { client } = owner
const live = await aLiveClient(service, owner)
const { read, creditsOf, balanceOf, proveLedgers } = incomingFilesIn({ service, client, live })

const FOREIGN = 'DE89370400440532013000'

async function aRequest(by = client, walletId?: string) {
  const requestId = newId('request')
  const wallet = walletId ?? (await aWallet(by)).id
  const { reference } = await bodyOf(by.payer.request({ body: { walletId: wallet, requestId } }))
  return { requestId, walletId: wallet, reference }
}
const send = (reference: string, members: object = {}) =>
  bodyOf(
    client.incoming.simulate({
      body: { iban: FOREIGN, amountEuros: 5, senderName: 'Adler GmbH', reference, ...members },
    }),
  )
const assign = (id: string, body: { walletId?: string; reference?: string }) =>
  service.dash.incoming.assign({ params: { id }, body })
const told = async (event: 'incoming.received' | 'incoming.assigned') =>
  (await bodyOf(client.events.list({ query: { event, limit: 1 } }))).data[0]?.data

describe('the reference of a request', () => {
  test('leads a credit to its wallet, and the credit and its event name the request', async () => {
    const { reference, requestId, walletId } = await aRequest()
    expect(reference).toMatch(/^RF\d{12}$/)
    const paid = { walletId, payableType: 'request', payableId: requestId }
    expect(await send(`Invoice, ${reference.replace(/(.{4})/g, '$1 ')}`)).toMatchObject(paid)
    expect(await told('incoming.received')).toMatchObject({
      ...paid,
      source: 'simulation',
      status: 'matched',
    })
    expect(await balanceOf(walletId)).toBe(5)
  })

  test('a reference counts with the IBAN of its wallet, and not with another’s', async () => {
    const { iban, id } = await aWallet(client)
    const { reference, requestId } = await aRequest(client, id)
    const other = await aWallet(client)
    expect(await send(reference, { iban })).toMatchObject({ walletId: id, payableId: requestId })
    expect(await send(reference, { iban: other.iban })).toMatchObject({ walletId: other.id, payableId: null })
  })

  test('a request’s reference counts beside the wallet’s own, but two requests of one wallet are ambiguous', async () => {
    const one = await aRequest()
    const two = await aRequest(client, one.walletId)
    const own = await referenceIn(service, one.walletId)
    expect(await send(`${own} ${one.reference}`)).toMatchObject({ payableId: one.requestId })
    expect(await send(`${one.reference} ${two.reference}`)).toMatchObject({
      walletId: one.walletId,
      payableId: null,
    })
    const elsewhere = await aRequest()
    expect(await send(`${one.reference} ${elsewhere.reference}`)).toMatchObject({
      status: 'unmatched',
      reason: 'several_references',
      payableId: null,
    })
  })

  test('counts in a file of the bank, for the requests of all owners and once for each booking', async () => {
    const stranger = await service.owner()
    const requests = [await aRequest(), await aRequest(stranger.client)]
    const bookings = requests.map(({ reference }) => ({
      reference: newBooking(),
      details: [payment({ text: reference })],
    }))
    const answers = await times(6, () => bodyOf(read(camt(bookings))).catch(() => undefined))
    expect(answers.filter(Boolean).length).toBeGreaterThan(0)
    expect(await bodyOf(read(camt(bookings, { kind: 'camt.054' })))).toMatchObject({ matched: 0, known: 2 })
    for (const [index, { requestId, walletId }] of requests.entries()) {
      expect(await creditsOf(String(bookings[index]?.reference))).toMatchObject([
        { status: 'matched', walletId, payableType: 'request', payableId: requestId },
      ])
      expect(await balanceOf(walletId, index === 0 ? client : stranger.client)).toBe(25)
    }
    await proveLedgers()
  })

  test('is paid by as many credits at once as come', async () => {
    const { reference, requestId, walletId } = await aRequest()
    const credits = await times(10, () => send(reference))
    expect(new Set(credits.map(({ payableId }) => payableId))).toEqual(new Set([requestId]))
    expect(await balanceOf(walletId)).toBe(50)
    await proveLedgers()
  })

  test('is unlike every other, for requests and wallets that are made at once', async () => {
    const { walletId } = await aRequest()
    const made = await times(20, async index =>
      index % 2
        ? referenceIn(service, (await aWallet(client)).id)
        : (await aRequest(client, walletId)).reference,
    )
    expect(new Set(made).size).toBe(20)
  })
})

describe('the operator assigns a credit', () => {
  test('by the reference of a request, which it then pays', async () => {
    const { reference, requestId, walletId } = await aRequest()
    const { id } = await send('RF without a number')
    expect(await bodyOf(assign(id, { reference }))).toMatchObject({ walletId, payableId: requestId })
    expect(await told('incoming.assigned')).toMatchObject({ payableType: 'request', payableId: requestId })
    expect(await balanceOf(walletId)).toBe(5)
  })

  test('from the platform to any owner, by a reference', async () => {
    const stranger = await service.owner()
    const { reference, requestId, walletId } = await aRequest(stranger.client)
    const booking = newBooking()
    await bodyOf(read(camt([{ reference: booking, details: [payment({ text: 'no reference' })] }])))
    const [credit] = await creditsOf(booking)
    expect(await bodyOf(assign(String(credit?.id), { reference }))).toMatchObject({
      ownerId: stranger.ownerId,
      status: 'assigned',
      payableId: requestId,
    })
    expect(await balanceOf(walletId, stranger.client)).toBe(25)
    await proveLedgers()
  })

  test('to a wallet, where it pays the request that its text names there', async () => {
    const [one, other] = [await aRequest(), await aRequest()]
    const { id } = await send(`${one.reference} ${other.reference}`)
    expect(await bodyOf(assign(id, { walletId: other.walletId }))).toMatchObject({
      payableId: other.requestId,
    })
  })

  test('to another wallet of the owner, where that of the request is closed', async () => {
    const { reference, requestId, walletId } = await aRequest()
    await bodyOf(client.wallets.close({ params: { id: walletId } }))
    const [next, stranger] = [await aWallet(client), await service.owner()]
    const { id } = await send(reference)
    expect((await assign(id, { walletId: (await aWallet(stranger.client)).id })).status).toBe(404)
    expect(await bodyOf(assign(id, { walletId: next.id }))).toMatchObject({
      walletId: next.id,
      payableId: requestId,
    })
  })

  test('refuses an unknown reference, a text without one, and both members or none', async () => {
    const { reference, walletId } = await aRequest()
    const { id } = await send('nothing')
    expect(await assign(id, { reference: creditorReferenceFor(9_999_999_998n) })).toMatchObject({
      status: 404,
      code: 'reference_not_found',
    })
    for (const body of [{ reference: 'Invoice 17' }, {}, { reference, walletId }])
      expect(await assign(id, body)).toMatchObject({ status: 400, code: 'invalid_request' })
    const stranger = await service.owner()
    const theirs = await aRequest(stranger.client)
    expect(await assign(id, { reference: theirs.reference })).toMatchObject({ status: 404 })
    expect(await bodyOf(assign(id, { reference }))).toMatchObject({ status: 'assigned', walletId })
  })
})

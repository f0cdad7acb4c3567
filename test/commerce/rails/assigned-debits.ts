import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { sepaNoticesIn } from '../../support/commerce/sepa-notices.ts'
import {
  aBeneficiary,
  aFundedAgent,
  aLiveClient,
  anAgent,
  anIntent,
  aSepaTransfer,
  aWallet,
  bodyOf,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { bookingOf, camt, returnedBooking } from '../../support/money/camt.ts'

const service = await startTestService()
const { dash } = service
const owner = await service.owner()
const { client } = owner
const { client: stranger } = await service.owner()
const { get, wallet, pass, reject, giveBack, close, postings, proveLedger, aSubmitted } =
  sepaNoticesIn(client)

const payee = { name: 'Bäckerei Müller', iban: 'DE89370400440532013000' }

/** The reference of a payment that the bank made, and that the database has lost. */
const aLostReference = (): string => newId('transfer').replace('transfer_', '')

const receive = (xml: string) =>
  bodyOf(dash.rails.read({ body: { content: Buffer.from(xml).toString('base64'), mode: 'test' } }))

const debitFile = (endToEndId: string, amount = '10.00', more = {}) =>
  receive(camt([bookingOf(endToEndId, amount, more)]))

type Assignment = Partial<Parameters<typeof dash.rails.assign>[0]['body']>

const assign = (id: string, endToEndId: string, walletId: string, more: Assignment = { payee }) =>
  dash.rails.assign({ params: { id }, body: { endToEndId, walletId, ...more } })

const familyOf = (code: string): string =>
  `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>${code}</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>`

const eventsOf = async (transferId: string): Promise<string[]> => {
  const { data } = await bodyOf(client.events.list({ query: { limit: 50 } }))
  return data.filter(({ data }) => data.transferId === transferId).map(({ event }) => event)
}

describe('a debit of a payment that the database has lost', () => {
  test('is assigned to the wallet that paid, and the transfer is there again under its id', async () => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const file = await debitFile(lost)
    expect(file.payments).toEqual([
      expect.objectContaining({ outcome: 'unknown_payment', amountEuros: 10, transferId: null }),
    ])
    const assigned = await bodyOf(assign(file.id, lost, walletId, { payee, reference: 'Rechnung Nr. 4711' }))
    const id = `transfer_${lost}`
    expect(assigned).toMatchObject({
      ...{ id, status: 'completed', fromWalletId: walletId, amountEuros: 10, endToEndId: lost },
      ...{ kind: 'sepa', scheme: 'sct', reference: 'Rechnung Nr. 4711', reason: null },
    })
    expect(await get(id)).toEqual(assigned)
    expect(await wallet(walletId)).toMatchObject({ availableEuros: 15, heldEuros: 0 })
    expect(await postings(id)).toEqual(['sepa_submit', 'sepa_settle'])
    expect((await eventsOf(id)).sort()).toEqual(['sepa.debit_assigned', 'transfer.completed'])
    const transaction = await bodyOf(
      client.transactions.get({ params: { id: String(assigned.transactionId) } }),
    )
    expect(transaction).toMatchObject({ status: 'completed', amountEuros: 10, merchant: payee.name })
    const from = new Date(Date.now() - 60_000).toISOString()
    const { data } = await bodyOf(client.transfers.list({ query: { from } }))
    expect(data.map(({ id }) => id)).toContain(id)
    await proveLedger()
  })

  test.each([
    ['sct_inst', 'its entry is of issued real-time transfers', familyOf('IRCT'), ''],
    ['sct_inst', 'it is one, in an entry of others', familyOf('ICDT'), familyOf('IRCT')],
    ['sct', 'its entry is of issued transfers', familyOf('ICDT'), ''],
  ])('is a transfer by %s if %s', async (scheme, _, more, inTx) => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const { id } = await receive(camt([bookingOf(lost, '10.00', { more }, inTx)]))
    expect(await bodyOf(assign(id, lost, walletId))).toMatchObject({ status: 'completed', scheme })
  })

  test('counts once: the same file, and another one with the same booking, change nothing', async () => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const xml = camt([bookingOf(lost, '10.00')])
    const { id } = await receive(xml)
    const early = await debitFile(lost)
    await bodyOf(assign(id, lost, walletId))
    const [again, other] = [await receive(xml), await debitFile(lost)]
    const taken = { outcome: 'taken', transferId: `transfer_${lost}` }
    expect([again.id, ...again.payments, ...other.payments]).toMatchObject([id, taken, taken])
    for (const file of [again, other, early]) {
      const refused = await assign(file.id, lost, walletId)
      expect([refused.status, refused.code]).toEqual([409, 'debit_not_open'])
      expect(refused.error).toContain(`transfer_${lost} is completed`)
    }
    await pass(1)
    expect((await wallet(walletId)).availableEuros).toBe(15)
    await proveLedger()
  })

  test('is assigned by one of many requests at once, from two files and to two wallets', async () => {
    const [first, second, lost] = [await aWallet(client, 25), await aWallet(client, 25), aLostReference()]
    const files = [await debitFile(lost), await debitFile(lost)]
    const answers = await times(8, n =>
      assign(String(files[n % 2]?.id), lost, n % 4 < 2 ? first.id : second.id),
    )
    expect(statusCounts(answers)).toEqual({ 200: 1, 400: 4, 409: 3 })
    expect(new Set(answers.map(({ code }) => code))).toEqual(
      new Set([undefined, 'debit_not_open', 'wallet_not_payer']),
    )
    const left = [await wallet(first.id), await wallet(second.id)].map(({ availableEuros }) => availableEuros)
    expect(left.sort()).toEqual([15, 25])
    expect(await postings(`transfer_${lost}`)).toEqual(['sepa_submit', 'sepa_settle'])
    await proveLedger()
  })

  test('exceeds the balance: the owner owes what is missing, and holds stay', async () => {
    const { client: poor } = await service.owner()
    const { id: walletId, iban } = await aWallet(poor, 8)
    const held = await aSepaTransfer(poor, { fromWalletId: walletId, amountEuros: 5, name: 'No Match GmbH' })
    const lost = aLostReference()
    const { id } = await debitFile(lost)
    await bodyOf(assign(id, lost, walletId))
    const { availableEuros, heldEuros, owedEuros } = await bodyOf(poor.billing.balance({}))
    expect({ availableEuros, heldEuros, owedEuros }).toEqual({
      availableEuros: 0,
      heldEuros: 5,
      owedEuros: 7,
    })
    await bodyOf(poor.transfers.cancel({ params: { id: held.id }, body: {} }))
    await bodyOf(
      poor.incoming.simulate({ body: { iban: String(iban), amountEuros: 20, senderName: 'Adler GmbH' } }),
    )
    expect(await bodyOf(poor.billing.balance({}))).toMatchObject({ availableEuros: 18, owedEuros: 0 })
    await proveLedger(poor)
  })

  test('is taken from a frozen wallet, and comes back by a return as that of any transfer', async () => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    await bodyOf(client.wallets.update({ params: { id: walletId }, body: { status: 'frozen' } }))
    const { id } = await debitFile(lost)
    await bodyOf(assign(id, lost, walletId))
    const back = await receive(camt([returnedBooking(lost, '10.00')]))
    expect(back.payments).toMatchObject([{ outcome: 'taken', notice: 'returned' }])
    await bodyOf(giveBack(`transfer_${lost}`, 'AC04'))
    expect((await get(`transfer_${lost}`)).status).toBe('returned')
    expect((await wallet(walletId)).availableEuros).toBe(25)
    await proveLedger()
  })

  test('repays the debt when the bank returns it', async () => {
    const { client: poor } = await service.owner()
    const [{ id: walletId }, lost] = [await aWallet(poor, 8), aLostReference()]
    const { id } = await debitFile(lost)
    await bodyOf(assign(id, lost, walletId))
    expect(await bodyOf(poor.billing.balance({}))).toMatchObject({ availableEuros: 0, owedEuros: 2 })
    await bodyOf(poor.transfers.simulateReturn({ body: { transferId: `transfer_${lost}` } }))
    expect(await bodyOf(poor.billing.balance({}))).toMatchObject({ availableEuros: 8, owedEuros: 0 })
    await proveLedger(poor)
  })

  test('is a debt that the return of another transfer repays', async () => {
    const { client: poor } = await service.owner()
    const transfer = await aSepaTransfer(poor)
    await bodyOf(poor.sandbox.advance({ body: { minutes: 1 } }))
    const { status } = await bodyOf(poor.transfers.get({ params: { id: transfer.id } }))
    expect(status).toBe('completed')
    const lost = aLostReference()
    const { id } = await debitFile(lost)
    await bodyOf(assign(id, lost, transfer.fromWalletId))
    await bodyOf(poor.transfers.simulateReturn({ body: { transferId: transfer.id } }))
    expect(await bodyOf(poor.billing.balance({}))).toMatchObject({ availableEuros: 2.5, owedEuros: 0 })
    await proveLedger(poor)
  })

  test('belongs to the agent whose wallet paid', async () => {
    const { client: payer } = await service.owner()
    const { id: agentId, walletId } = await anAgent(payer)
    const lost = aLostReference()
    const { id } = await debitFile(lost)
    const assigned = await bodyOf(assign(id, lost, String(walletId)))
    expect(assigned).toMatchObject({ agentId })
    const params = { id: String(assigned.transactionId) }
    expect(await bodyOf(payer.transactions.get({ params }))).toMatchObject({ agentId, amountEuros: 10 })
    await proveLedger(payer)
  })

  test('is the one with an amount, or that of the transfer, if the file has several', async () => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const none = bookingOf(lost, '', {})
    const { id } = await receive(camt([none, bookingOf(lost, '10.00'), bookingOf(lost, '12.00')]))
    expect(await bodyOf(assign(id, lost, walletId))).toMatchObject({ amountEuros: 10 })
    const transfer = await aSepaTransfer(client, { name: 'No Match GmbH' })
    const known = String(transfer.endToEndId)
    const several = camt([bookingOf(known, '10.00'), bookingOf(known, '12.50')])
    const file = await receive(several)
    expect(await bodyOf(assign(file.id, known, transfer.fromWalletId))).toMatchObject({ amountEuros: 12.5 })
    expect((await receive(several)).payments).toMatchObject([
      { amountEuros: 10, outcome: 'unknown_payment', transferId: null },
      { amountEuros: 12.5, outcome: 'taken', transferId: transfer.id },
    ])
    await proveLedger()
  })
})

describe('a debit of a transfer that had not left, or had come back', () => {
  const aWaiting = () => aSepaTransfer(client, { name: 'No Match GmbH' })

  test('completes it without another payment while it waits, and uses its hold', async () => {
    const transfer = await aWaiting()
    const { id } = await debitFile(String(transfer.endToEndId), '12.50')
    const assigned = await bodyOf(assign(id, String(transfer.endToEndId), transfer.fromWalletId, {}))
    expect(assigned).toMatchObject({
      id: transfer.id,
      status: 'completed',
      beneficiaryId: transfer.beneficiaryId,
    })
    expect(await wallet(transfer.fromWalletId)).toMatchObject({ availableEuros: 0, heldEuros: 0 })
    await pass(60)
    expect((await get(transfer.id)).status).toBe('completed')
    expect(await postings(transfer.id)).toEqual(['hold', 'sepa_submit', 'sepa_settle'])
    await proveLedger()
  })

  test('continues a cancelled one, whose money is in the wallet again', async () => {
    const transfer = await aWaiting()
    await bodyOf(client.transfers.cancel({ params: { id: transfer.id }, body: {} }))
    const { id } = await debitFile(String(transfer.endToEndId), '12.50')
    await bodyOf(assign(id, String(transfer.endToEndId), transfer.fromWalletId, {}))
    expect(await get(transfer.id)).toMatchObject({ status: 'completed', reason: null })
    expect((await wallet(transfer.fromWalletId)).availableEuros).toBe(0)
    await proveLedger()
  })

  test('continues a rejected one, and its transaction', async () => {
    const transfer = await aSubmitted()
    await bodyOf(reject(transfer.id, 'AC04'))
    const { transactionId } = await get(transfer.id)
    const { id } = await debitFile(String(transfer.endToEndId), '777.06')
    await bodyOf(assign(id, String(transfer.endToEndId), transfer.fromWalletId, {}))
    expect(await get(transfer.id)).toMatchObject({ status: 'completed', transactionId, reason: null })
    const transaction = await bodyOf(client.transactions.get({ params: { id: String(transactionId) } }))
    expect(transaction).toMatchObject({ status: 'completed', declineReason: null })
    expect((await wallet(transfer.fromWalletId)).availableEuros).toBe(0)
    await proveLedger()
  })

  test('is a debt of the owner if the wallet was closed since', async () => {
    const { client: poor } = await service.owner()
    const transfer = await aSepaTransfer(poor, { name: 'No Match GmbH' })
    await bodyOf(poor.transfers.cancel({ params: { id: transfer.id }, body: {} }))
    const { id: heir } = await aWallet(poor)
    const body = { fromWalletId: transfer.fromWalletId, toWalletId: heir, amountEuros: 12.5 }
    await bodyOf(poor.transfers.create({ body }))
    await bodyOf(poor.wallets.close({ params: { id: transfer.fromWalletId } }))
    const { id } = await debitFile(String(transfer.endToEndId), '12.50')
    await bodyOf(assign(id, String(transfer.endToEndId), transfer.fromWalletId, {}))
    expect(await bodyOf(poor.billing.balance({}))).toMatchObject({ availableEuros: 12.5, owedEuros: 12.5 })
    await proveLedger(poor)
  })
})

describe('a debit of a cancelled transfer on an intent', () => {
  async function aCancelled() {
    const { client: payer } = await service.owner()
    const agent = await aFundedAgent(payer, {}, 100)
    const beneficiary = await aBeneficiary(payer, { name: 'No Match GmbH' })
    const { id: intentId } = await anIntent(payer, agent.id, {
      beneficiaryId: beneficiary.id,
      amountEuros: 30,
    })
    await bodyOf(payer.intents.approve({ params: { id: intentId }, body: {} }))
    const pay = () =>
      bodyOf(
        payer.transfers.create({
          body: { fromWalletId: agent.walletId, beneficiaryId: beneficiary.id, amountEuros: 12.5, intentId },
        }),
      )
    const transfer = await pay()
    await bodyOf(payer.transfers.cancel({ params: { id: transfer.id }, body: {} }))
    const { id } = await debitFile(String(transfer.endToEndId), '12.50')
    const intent = () => bodyOf(payer.intents.get({ params: { id: intentId } }))
    const assigned = () => bodyOf(assign(id, String(transfer.endToEndId), agent.walletId, {}))
    const balance = () => bodyOf(payer.wallets.get({ params: { id: agent.walletId } }))
    return { payer, pay, assigned, intent, balance, intentId }
  }

  test('pays the intent if that is free', async () => {
    const { payer, assigned, intent, balance, intentId } = await aCancelled()
    const { transactionId, intentId: paid } = await assigned()
    expect(paid).toBe(intentId)
    expect(await intent()).toMatchObject({ status: 'completed', transactionId })
    expect(await balance()).toMatchObject({ availableEuros: 87.5, heldEuros: 0 })
    await proveLedger(payer)
  })

  test('takes nothing from the intent if another transfer pays that', async () => {
    const { payer, pay, assigned, intent, balance, intentId } = await aCancelled()
    const retry = await pay()
    expect(await assigned()).toMatchObject({ status: 'completed', intentId: null })
    expect(await intent()).toMatchObject({ status: 'approved' })
    expect(await balance()).toMatchObject({ availableEuros: 57.5, heldEuros: 30 })
    const other = await bodyOf(
      dash.rails.assign({
        params: { id: (await debitFile(String(retry.endToEndId), '12.50')).id },
        body: { endToEndId: String(retry.endToEndId), walletId: retry.fromWalletId },
      }),
    )
    expect(other).toMatchObject({ status: 'completed', intentId })
    expect(await balance()).toMatchObject({ availableEuros: 75, heldEuros: 0 })
    await proveLedger(payer)
  })
})

describe('an assignment of a debit is refused', () => {
  test('if its return was read before it', async () => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const { id } = await debitFile(lost)
    const back = await receive(camt([returnedBooking(lost, '10.00')]))
    expect(back.payments).toMatchObject([{ outcome: 'unknown_payment', notice: 'returned' }])
    const { status, code } = await assign(id, lost, walletId)
    expect([status, code]).toEqual([409, 'debit_returned'])
    expect((await client.transfers.get({ params: { id: `transfer_${lost}` } })).status).toBe(404)
    expect((await wallet(walletId)).availableEuros).toBe(25)
  })

  test('if its return was read after the rejection of the transfer, and had no effect', async () => {
    const transfer = await aSubmitted()
    const reference = String(transfer.endToEndId)
    await bodyOf(reject(transfer.id, 'AC04'))
    const { id } = await debitFile(reference, '777.06')
    const back = await receive(camt([returnedBooking(reference, '777.06')]))
    expect(back.payments).toMatchObject([{ outcome: 'taken', notice: 'returned' }])
    const refused = await assign(id, reference, transfer.fromWalletId)
    expect(refused).toMatchObject({ status: 409, code: 'debit_returned' })
    expect((await get(transfer.id)).status).toBe('rejected')
    expect((await wallet(transfer.fromWalletId)).availableEuros).toBe(777.06)
    await proveLedger()
  })

  test('not by the return of another amount, which a person checks', async () => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const { id } = await debitFile(lost)
    await receive(camt([returnedBooking(lost, '9.50')]))
    expect((await bodyOf(assign(id, lost, walletId))).status).toBe('completed')
    await proveLedger()
  })

  test.each([
    ['of another currency', '10.00', { currency: 'USD' }],
    ['that is not booked', '10.00', { status: '<Cd>PDNG</Cd>' }],
    ['that is a credit', '10.00', { direction: 'CRDT' }],
  ])('if the file has only an entry %s', async (_, amount, more) => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const { id } = await debitFile(lost, amount, more)
    const { status, code } = await assign(id, lost, walletId)
    expect([status, code]).toEqual([404, 'debit_not_found'])
  })

  test('for an unknown file, and for a reference that is not in it or not ours', async () => {
    const [{ id: walletId }, lost] = [await aWallet(client, 25), aLostReference()]
    const { id } = await debitFile(lost)
    expect(await assign('sepamessage_1', lost, walletId)).toMatchObject({
      status: 404,
      code: 'message_not_found',
    })
    expect((await assign(id, aLostReference(), walletId)).code).toBe('debit_not_found')
    expect(await assign(id, 'NOTPROVIDED', walletId)).toMatchObject({ status: 400 })
    expect((await wallet(walletId)).availableEuros).toBe(25)
  })

  test('for a wallet that is unknown, or closed, and without the payee', async () => {
    const [{ id: walletId }, shut, lost] = [
      await aWallet(client, 25),
      await aWallet(client),
      aLostReference(),
    ]
    await close(shut.id)
    const { id } = await debitFile(lost)
    const codes = [
      (await assign(id, lost, 'wallet_1')).code,
      (await assign(id, lost, shut.id)).code,
      (await assign(id, lost, walletId, {})).code,
    ]
    expect(codes).toEqual(['wallet_not_found', 'wallet_closed', 'payee_missing'])
    expect((await client.transfers.get({ params: { id: `transfer_${lost}` } })).status).toBe(404)
  })

  test('for a live wallet, if the file is of the test mode', async () => {
    const { id: walletId } = await aWallet(await aLiveClient(service, owner))
    const lost = aLostReference()
    const { id } = await debitFile(lost)
    expect((await assign(id, lost, walletId)).code).toBe('wallet_not_found')
  })

  test('for another wallet or owner, or another amount, than the transfer has', async () => {
    const transfer = await aSepaTransfer(client, { name: 'No Match GmbH' })
    const [own, foreign] = [await aWallet(client, 25), await aWallet(stranger, 25)]
    const lost = String(transfer.endToEndId)
    const [right, wrong] = [await debitFile(lost, '12.50'), await debitFile(lost, '12.49')]
    for (const { id } of [own, foreign]) {
      const { status, code, error } = await assign(right.id, lost, id)
      expect([status, code]).toEqual([400, 'wallet_not_payer'])
      expect(error).toContain(transfer.fromWalletId)
    }
    expect(await assign(wrong.id, lost, transfer.fromWalletId)).toMatchObject({
      status: 409,
      code: 'amount_differs',
    })
    expect((await get(transfer.id)).status).toBe('created')
    await proveLedger()
    await proveLedger(stranger)
  })

  test('if the transfer is submitted: its file settles it', async () => {
    const transfer = await aSubmitted()
    const { id, payments } = await debitFile(String(transfer.endToEndId), '777.06')
    expect(payments).toMatchObject([{ outcome: 'taken' }])
    const refused = await assign(id, String(transfer.endToEndId), transfer.fromWalletId)
    expect([refused.code, refused.error]).toEqual(['debit_not_open', expect.stringContaining('submitted')])
  })
})

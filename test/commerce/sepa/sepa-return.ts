import { describe, expect, test } from '@jest/globals'
import { recordingRail } from '../../support/commerce/rail.ts'
import { sepaNoticesIn } from '../../support/commerce/sepa-notices.ts'
import { aSepaTransfer, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const rail = recordingRail()
const service = await startTestService({ outside: { sepaRail: () => rail.rail } })
const { client, ownerId } = await service.owner()
const {
  pass,
  recall,
  close,
  inSuspense,
  giveBack,
  aCompleted,
  wallet,
  get,
  reject,
  proveLedger,
  postings,
  settle,
  aSubmitted,
} = sepaNoticesIn(client)

describe('a notice of the bank', () => {
  test('of settlement counts once, even repeated and from two processes at once', async () => {
    const { id } = await aSubmitted()
    const stranger = service.client()
    expect((await settle(id, stranger)).status).toBe(401)
    const answers = await Promise.all(Array.from({ length: 5 }, () => settle(id)))
    expect(answers.map(({ body }) => body?.status)).toEqual(Array(5).fill('completed'))
    expect(await postings(id)).toEqual(['hold', 'sepa_submit', 'sepa_settle'])
    const events = await service.sql(
      `select 1 from events where event = 'transfer.completed' and data ->> 'transferId' = $1`,
      [id],
    )
    expect(events).toHaveLength(1)
    await proveLedger()
  })

  test('of rejection undoes the transfer and gives the reason in words, for known and unknown codes', async () => {
    const [knownCode, unknownCode, withoutCode] = [await aSubmitted(), await aSubmitted(), await aSubmitted()]
    await bodyOf(reject(knownCode.id, 'AC04'))
    await bodyOf(reject(knownCode.id, 'AC06'))
    await bodyOf(reject(unknownCode.id, 'ZZ99'))
    await bodyOf(reject(withoutCode.id))
    expect((await get(knownCode.id)).reason).toEqual({
      code: 'AC04',
      message: 'The payee’s account is closed.',
    })
    expect((await get(unknownCode.id)).reason?.message).toBe('The bank gives the reason ZZ99.')
    expect((await get(withoutCode.id)).reason?.code).toBe('MS03')
    expect((await wallet(knownCode.fromWalletId)).availableEuros).toBe(777.06)
    await proveLedger()
  })

  test('of a return is recorded, also before the settlement is known', async () => {
    const [settled, unheard] = [await aCompleted(), await aSubmitted()]
    for (const { id, fromWalletId, amountEuros } of [settled, unheard]) {
      await bodyOf(giveBack(id, 'AC04'))
      expect(await get(id)).toMatchObject({
        status: 'returned',
        reason: { code: 'AC04' },
        completedAt: expect.any(String),
      })
      expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: amountEuros, heldEuros: 0 })
      await bodyOf(giveBack(id, 'AC04'))
      await bodyOf(settle(id))
      await bodyOf(reject(id))
      expect((await get(id)).status).toBe('returned')
      expect(await postings(id)).toEqual(['hold', 'sepa_submit', 'sepa_settle', 'sepa_return'])
    }
    await proveLedger()
  })

  test('of rejection after settlement counts as a return', async () => {
    const { id } = await aCompleted()
    await bodyOf(reject(id, 'AC04'))
    expect(await get(id)).toMatchObject({ status: 'returned', reason: { code: 'AC04' } })
    await proveLedger()
  })

  test('of settlement after rejection moves nothing and is reported to a person once', async () => {
    const { id, fromWalletId } = await aSubmitted()
    await bodyOf(reject(id, 'AC04'))
    for (let count = 0; count < 3; count++) await bodyOf(settle(id))
    expect(await get(id)).toMatchObject({ status: 'rejected', reason: { code: 'contradiction' } })
    expect((await wallet(fromWalletId)).availableEuros).toBe(777.06)
    const { data } = await bodyOf(client.events.list({ query: { event: 'payment.updated', limit: 1 } }))
    expect(data[0]?.data).toMatchObject({ transferId: id, reason: expect.stringContaining('Ask the bank') })
    await proveLedger()
  })

  test('is refused for a transfer that is not submitted, and in live mode', async () => {
    const { id } = await aSepaTransfer(client, { name: 'No Match GmbH' })
    for (const notice of [settle, reject, giveBack])
      expect((await notice(id)).code).toBe('transfer_not_submitted')
    expect((await settle('transfer_1')).status).toBe(404)
    const { client: other } = await service.owner()
    expect((await settle(id, other)).status).toBe(404)
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [ownerId])
    const { key } = await bodyOf(client.keys.create({ body: { name: 'Live', environment: 'live' } }))
    expect((await settle(id, service.client(String(key)))).code).toBe('test_mode_only')
  })

  test('with an invalid reason code is a 400', async () => {
    const { error, status } = await reject('transfer_1', 'closed')
    expect([status, error]).toEqual([400, expect.stringContaining('reasonCode')])
  })
})

describe('a wallet that was closed meanwhile', () => {
  test('does not get what is returned: it goes to the oldest open wallet of the owner', async () => {
    const { id, fromWalletId, amountEuros } = await aCompleted()
    await close(fromWalletId)
    const { data } = await bodyOf(client.wallets.list({ query: { limit: 100 } }))
    const balances = new Map(data.map(({ id, availableEuros }) => [id, availableEuros]))
    await bodyOf(giveBack(id, 'AC04'))
    const { status, reason } = await get(id)
    expect([status, reason?.code]).toEqual(['returned', 'AC04'])
    const [, heir = ''] = String(reason?.message).split(
      /The wallet is closed: the money is in the wallet |\.$/,
    )
    const { availableEuros } = await wallet(heir)
    expect(availableEuros - Number(balances.get(heir))).toBeCloseTo(amountEuros, 2)
    await proveLedger()
  })

  test('does not get what is rejected: it is kept in suspense', async () => {
    const before = await inSuspense()
    const { id, fromWalletId, amountEuros } = await aSubmitted()
    await close(fromWalletId)
    await bodyOf(reject(id, 'AC04'))
    const message = expect.stringContaining('The wallet is closed: the money is kept in suspense.')
    expect(await get(id)).toMatchObject({ status: 'rejected', reason: { code: 'AC04', message } })
    expect((await inSuspense()) - before).toBeCloseTo(amountEuros, 2)
    expect((await postings(id)).at(-1)).toBe('sepa_undo_unmatched')
    await proveLedger()
  })

  test('still settles its transfers', async () => {
    const { id, fromWalletId } = await aSubmitted()
    await close(fromWalletId)
    await bodyOf(settle(id))
    expect((await get(id)).status).toBe('completed')
    await proveLedger()
  })
})

describe('what the owner owes', () => {
  /** An owner whose whole balance was paid out by SEPA, before the payer's bank took the funding back. */
  async function aDebtor() {
    const { client: poor } = await service.owner()
    const of = sepaNoticesIn(poor)
    const { id } = await aWallet(poor)
    const { funding } = await bodyOf(poor.fund.wallet({ params: { id }, body: { amountEuros: 12.5 } }))
    const transfer = await aSepaTransfer(poor, { fromWalletId: id })
    await of.pass(1)
    expect((await of.get(transfer.id)).status).toBe('completed')
    const body = { reason: 'The holder disputes it.' }
    await bodyOf(poor.fund.simulateReverse({ params: { fundingId: funding.id }, body }))
    const balance = () => bodyOf(poor.billing.balance({}))
    expect(await balance()).toMatchObject({ availableEuros: 0, owedEuros: 12.5 })
    return { ...of, id: transfer.id, balance }
  }

  test.each<[string, (of: Awaited<ReturnType<typeof aDebtor>>) => Promise<unknown>]>([
    ['a return', ({ id, giveBack }) => bodyOf(giveBack(id))],
    ['a rejection after the settlement', ({ id, reject }) => bodyOf(reject(id))],
    ['a recall that the bank accepts', ({ id, recall, pass }) => bodyOf(recall(id)).then(() => pass(1))],
  ])('is repaid by the money of %s', async (_, bring) => {
    const of = await aDebtor()
    await bring(of)
    expect((await of.get(of.id)).status).toBe('returned')
    expect(await of.balance()).toMatchObject({ availableEuros: 0, owedEuros: 0 })
    await of.proveLedger()
  })
})

describe('a recall', () => {
  test('that the bank accepts brings the money back', async () => {
    const { id, fromWalletId } = await aCompleted()
    const recalled = await bodyOf(recall(id, 'It was paid twice'))
    expect(recalled).toMatchObject({
      status: 'completed',
      recall: { status: 'requested', reason: 'It was paid twice', answer: null, answeredAt: null },
    })
    expect((await recall(id)).code).toBe('recall_under_way')
    await pass(1)
    expect(await get(id)).toMatchObject({
      status: 'returned',
      reason: { code: 'FOCR' },
      recall: { status: 'accepted', answer: { code: 'FOCR' }, answeredAt: expect.any(String) },
    })
    expect((await wallet(fromWalletId)).availableEuros).toBe(12.5)
    expect((await recall(id)).code).toBe('transfer_not_recallable')
    await proveLedger()
  })

  test.each([
    [888.01, 'CUST', 'The payee does not agree to the return.'],
    [888.02, 'AC04', 'The payee’s account is closed.'],
  ])('of € %d is refused with %s, and may be asked for again', async (amountEuros, code, message) => {
    const { id } = await aCompleted(amountEuros)
    await bodyOf(recall(id))
    await pass(1)
    const refused = { status: 'refused', answer: { code, message } }
    expect(await get(id)).toMatchObject({ status: 'completed', reason: null, recall: refused })
    expect((await bodyOf(recall(id))).recall?.status).toBe('requested')
    await pass(1)
    expect((await get(id)).recall?.status).toBe('refused')
    await proveLedger()
  })

  test.each([888.03, 888.04])('of € %d is waited for, and a return answers it', async amountEuros => {
    const { id } = await aCompleted(amountEuros)
    await bodyOf(recall(id))
    await pass(1)
    await pass(60 * 24 * 10)
    expect(await get(id)).toMatchObject({ status: 'completed', recall: { status: 'requested' } })
    expect(rail.count('recall', id)).toBeGreaterThan(5)
    await bodyOf(giveBack(id, 'FOCR'))
    expect(await get(id)).toMatchObject({ status: 'returned', recall: { status: 'accepted' } })
    const recalled = rail.count('recall', id)
    await pass(60 * 24 * 3)
    expect(rail.count('recall', id)).toBe(recalled)
    await proveLedger()
  })

  test('of an unsettled transfer stops it on its way', async () => {
    const { id, fromWalletId } = await aSubmitted()
    await bodyOf(recall(id))
    await pass(1)
    expect(await get(id)).toMatchObject({
      status: 'rejected',
      reason: { code: 'FOCR' },
      recall: { status: 'accepted' },
      completedAt: null,
    })
    expect((await wallet(fromWalletId)).availableEuros).toBe(777.06)
    await proveLedger()
  })

  test('is sent in spite of a settlement meanwhile, and of a bank that does not answer', async () => {
    const { id } = await aSubmitted()
    rail.break('recall', 'before', 2)
    await bodyOf(recall(id))
    await bodyOf(settle(id))
    expect(await get(id)).toMatchObject({ status: 'completed', recall: { status: 'requested' } })
    await pass(60)
    rail.restore()
    await pass(60)
    expect(await get(id)).toMatchObject({ status: 'returned', recall: { status: 'accepted' } })
    await proveLedger()
  })

  test('is accepted by a rejection, too', async () => {
    const { id } = await aSubmitted()
    await bodyOf(recall(id))
    await bodyOf(reject(id, 'AC04'))
    expect(await get(id)).toMatchObject({
      status: 'rejected',
      reason: { code: 'AC04' },
      recall: { status: 'accepted', answer: { code: 'AC04' } },
    })
    await bodyOf(giveBack(id))
    expect((await get(id)).status).toBe('rejected')
    await proveLedger()
  })

  test('is refused for a transfer that is not submitted by SEPA', async () => {
    const { id } = await aSepaTransfer(client)
    expect((await recall(id)).code).toBe('transfer_not_recallable')
    const [from, to] = [await aWallet(client, 1), await aWallet(client)]
    const body = { fromWalletId: from.id, toWalletId: to.id, amountEuros: 1 }
    const within = await bodyOf(client.transfers.create({ body }))
    expect((await recall(within.id)).code).toBe('transfer_not_recallable')
  })
})

import { describe, expect, test } from '@jest/globals'
import { recordingRail } from '../support/commerce/rail.ts'
import { sepaIn } from '../support/commerce/sepa.ts'
import { aSepaTransfer, aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const rail = recordingRail()
const service = await startTestService({ outside: { sepaRail: () => rail.rail } })
const { anOwner } = sepaIn(service)

describe('the payee verification', () => {
  test.each([
    ['Close Adler GmbH', 'close_match', 'Adler GmbH'],
    ['No Match GmbH', 'no_match', null],
  ])('of %s keeps the transfer waiting until a person confirms it', async (name, result, suggestedName) => {
    const { client, get, pass } = await anOwner()
    const { id } = await aSepaTransfer(client, { name })
    await pass({ minutes: 10 })
    expect(await get(id)).toMatchObject({ status: 'verifying', payeeCheck: { result, suggestedName } })
    const params = { id }
    const confirmed = await bodyOf(
      client.transfers.confirmPayee({ params, body: { comment: 'Known to us' } }),
    )
    expect(confirmed).toMatchObject({ status: 'verifying', payeeConfirmedAt: expect.any(String) })
    expect((await client.transfers.confirmPayee({ params, body: {} })).code).toBe('payee_not_waiting')
    const { data } = await bodyOf(client.events.list({ query: { event: 'payment.updated', limit: 1 } }))
    expect(data[0]?.data).toMatchObject({ transferId: id, reason: 'Known to us' })
    await pass({ minutes: 1 })
    expect((await get(id)).status).toBe('completed')
  })

  test.each(['Unknown Person', 'Timeout GmbH', 'Garbled GmbH'])(
    'of %s, which gets no answer, delays nothing',
    async name => {
      const { client, get, pass } = await anOwner()
      const { id } = await aSepaTransfer(client, { name })
      await pass({ minutes: 1 })
      expect(await get(id)).toMatchObject({ status: 'completed', payeeCheck: { result: 'not_possible' } })
    },
  )

  test('waits for a confirmation for seven days; then the transfer is cancelled', async () => {
    const { client, get, pass, wallet } = await anOwner()
    const { id, fromWalletId } = await aSepaTransfer(client, { name: 'No Match GmbH' })
    await pass({ minutes: 1 })
    await pass({ days: 6 })
    expect((await get(id)).status).toBe('verifying')
    await pass({ days: 1 })
    expect(await get(id)).toMatchObject({
      status: 'cancelled',
      reason: { code: 'payee_not_confirmed', message: expect.stringContaining('in time') },
    })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 12.5, heldEuros: 0 })
    expect((await client.transfers.confirmPayee({ params: { id }, body: {} })).code).toBe('payee_not_waiting')
    await expectVerifiedLedger(client)
  })

  test('of a matching name needs no confirmation', async () => {
    const { client } = await anOwner()
    const { id } = await aSepaTransfer(client)
    expect((await client.transfers.confirmPayee({ params: { id }, body: {} })).code).toBe('payee_not_waiting')
  })
})

describe('cancelling a transfer', () => {
  test('releases its money and its share of the day’s limit, once', async () => {
    const { client, get, pass, wallet, events, postings } = await anOwner()
    const { id, fromWalletId } = await aSepaTransfer(client)
    expect((await bodyOf(client.transfers.limits({}))).usedEuros).toBe(12.5)
    const params = { id }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.transfers.cancel({ params, body: { comment: 'Not needed' } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect(await get(id)).toMatchObject({
      status: 'cancelled',
      reason: { code: 'cancelled', message: 'Not needed' },
    })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 12.5, heldEuros: 0 })
    expect((await bodyOf(client.transfers.limits({}))).usedEuros).toBe(0)
    await pass({ minutes: 10 })
    expect(await events(id)).toEqual(['payment.updated created', 'transfer.failed cancelled'])
    expect(await postings(id)).toEqual(['hold', 'release'])
    expect(rail.calls.filter(({ reference }) => reference === id)).toEqual([])
    await expectVerifiedLedger(client)
  })

  test('is refused once it is submitted or has ended, and between wallets', async () => {
    const { client, pass } = await anOwner()
    const { id, fromWalletId } = await aSepaTransfer(client, { amountEuros: 777.06 })
    await pass({ minutes: 1 })
    const cancel = (of: string) => client.transfers.cancel({ params: { id: of }, body: {} })
    expect((await cancel(id)).code).toBe('transfer_not_cancellable')
    const other = await aSepaTransfer(client)
    await bodyOf(cancel(other.id))
    expect((await cancel(other.id)).error).toBe('The transfer is already cancelled.')
    const { id: toWalletId } = await aWallet(client)
    const { id: from } = await aWallet(client, 1)
    const within = await bodyOf(
      client.transfers.create({ body: { fromWalletId: from, toWalletId, amountEuros: 1 } }),
    )
    expect((await cancel(within.id)).code).toBe('transfer_not_cancellable')
    expect(fromWalletId).not.toBe(from)
  })

  test('succeeds during the payee check, and submits nothing', async () => {
    const { client, get, pass } = await anOwner()
    const { id } = await aSepaTransfer(client)
    rail.meanwhile('verifyPayee', call =>
      client.transfers.cancel({ params: { id: call.reference }, body: {} }),
    )
    await pass({ minutes: 1 })
    rail.restore()
    await pass({ minutes: 10 })
    expect(await get(id)).toMatchObject({ status: 'cancelled', payeeCheck: null })
    expect(rail.acceptedCount(id)).toBe(0)
  })

  test('also happens to one that is being created when its owner is suspended', async () => {
    const { client, ownerId, pass, wallet } = await anOwner()
    rail.meanwhile('verifyPayee', () =>
      service.sql(`update customers set status = 'suspended' where id = $1`, [ownerId]),
    )
    const { id, fromWalletId } = await aSepaTransfer(client)
    await pass({ minutes: 1 })
    rail.restore()
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { status: 'active' } }))
    expect(await bodyOf(client.transfers.get({ params: { id } }))).toMatchObject({
      status: 'cancelled',
      reason: { code: 'customer_suspended' },
    })
    expect(rail.count('submit', id)).toBe(0)
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 12.5, heldEuros: 0 })
    await expectVerifiedLedger(client)
  })

  test('comes too late during the submission', async () => {
    const { client, get, pass } = await anOwner()
    const { id } = await aSepaTransfer(client)
    let code: string | undefined
    rail.meanwhile('submit', async call => {
      ;({ code } = await client.transfers.cancel({ params: { id: call.reference }, body: {} }))
    })
    await pass({ minutes: 1 })
    rail.restore()
    expect([code, (await get(id)).status]).toEqual(['transfer_not_cancellable', 'completed'])
  })

  test('happens when its wallet is frozen before the submission', async () => {
    const { client, get, pass, wallet } = await anOwner()
    const { id, fromWalletId } = await aSepaTransfer(client)
    await bodyOf(client.wallets.update({ params: { id: fromWalletId }, body: { status: 'frozen' } }))
    await pass({ minutes: 1 })
    expect(await get(id)).toMatchObject({ status: 'cancelled', reason: { code: 'wallet_frozen' } })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: 12.5, heldEuros: 0 })
    expect(rail.acceptedCount(id)).toBe(0)
  })
})

describe('an amount of the sandbox', () => {
  test.each([
    [666.01, 'AC04', 'The payee’s account is closed.'],
    [666.02, 'AM04', 'There was not enough money at the payer’s bank.'],
    [666.03, 'RC01', 'The BIC of the payee’s bank is wrong.'],
    [666.04, 'MS03', 'The bank gives no reason.'],
    [666.05, 'AG01', 'Payments to this kind of account are not allowed.'],
    [666.06, 'AC06', 'The payee’s account is blocked.'],
  ])('€ %d is rejected: %s', async (amountEuros, code, message) => {
    const { client, get, pass, wallet, postings, events } = await anOwner()
    const { id, fromWalletId } = await aSepaTransfer(client, { amountEuros })
    await pass({ minutes: 1 })
    expect(await get(id)).toMatchObject({ status: 'rejected', reason: { code, message }, completedAt: null })
    expect(await wallet(fromWalletId)).toMatchObject({ availableEuros: amountEuros, heldEuros: 0 })
    expect(await postings(id)).toEqual(['hold', 'sepa_submit', 'sepa_undo'])
    expect((await events(id)).at(-1)).toBe('transfer.failed rejected')
    expect((await bodyOf(client.transfers.limits({}))).usedEuros).toBe(0)
    await expectVerifiedLedger(client)
  })

  test.each([
    [777.01, 'sct', { minutes: 90 }, 'completed'],
    [666.07, 'sct', { minutes: 90 }, 'rejected'],
    [777.03, 'sct', { minutes: 5 }, 'completed'],
    [777.03, 'sct_inst', { minutes: 5 }, 'completed'],
    [777.04, 'sct_inst', { minutes: 5 }, 'rejected'],
    [777.05, 'sct_inst', { seconds: 11 }, 'completed'],
  ] as const)('€ %d by %s ends after %j: %s', async (amountEuros, scheme, span, status) => {
    const { client, get, pass } = await anOwner()
    const { id } = await aSepaTransfer(client, { amountEuros, scheme })
    await pass({ seconds: 1 })
    expect((await get(id)).status).toBe('submitted')
    await pass(span)
    expect((await get(id)).status).toBe(status)
    expect([rail.acceptedCount(id), rail.count('submit', id)]).toEqual([1, 1])
    await expectVerifiedLedger(client)
  })

  test('€ 777.02 gets no answer: the transfer is indeterminate until a notice comes', async () => {
    const { client, get, pass, events } = await anOwner()
    const { id } = await aSepaTransfer(client, { amountEuros: 777.02, scheme: 'sct_inst' })
    await pass({ minutes: 1 })
    const doubtful = { status: 'submitted', reason: { code: 'indeterminate' } }
    expect(await get(id)).toMatchObject(doubtful)
    await pass({ days: 30 })
    expect(await get(id)).toMatchObject(doubtful)
    expect(rail.count('submit', id)).toBe(1)
    expect(rail.count('statusOf', id)).toBeGreaterThan(20)
    expect(rail.count('statusOf', id)).toBeLessThan(50)
    expect((await events(id)).filter(event => event === 'payment.updated submitted')).toHaveLength(2)
    await bodyOf(client.transfers.simulateSettle({ body: { transferId: id } }))
    expect(await get(id)).toMatchObject({ status: 'completed', reason: null })
    await expectVerifiedLedger(client)
  })

  test('€ 777.06 is indeterminate after ten seconds by sct_inst, and on its way by sct', async () => {
    const { client, get, pass } = await anOwner()
    const instant = await aSepaTransfer(client, { amountEuros: 777.06, scheme: 'sct_inst' })
    const plain = await aSepaTransfer(client, { amountEuros: 777.06 })
    await pass({ seconds: 1 })
    expect((await get(instant.id)).reason).toBe(null)
    await pass({ seconds: 10 })
    expect((await get(instant.id)).reason?.code).toBe('indeterminate')
    await pass({ minutes: 10 })
    expect(await get(plain.id)).toMatchObject({ status: 'submitted', reason: null })
  })
})

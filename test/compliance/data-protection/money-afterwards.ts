import { describe, expect, test } from '@jest/globals'
import { PLATFORM_OWNER_ID } from '../../../src/identity/customers/customer.ts'
import { newId } from '../../../src/values/ids.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { forget, goOnWith } from '../../support/compliance/forgotten.ts'
import { aSepaTransfer, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { countAll } from '../../support/insight/paying.ts'
import { camt, payment, returnedBooking } from '../../support/money/camt.ts'
import { referenceIn } from '../../support/money/incoming.ts'
import { newReference } from '../../support/money/incoming-files.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { until } from '../../support/until.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const service = await startTestService({ own: true })
const worker = await openWorkerRuntime(service)
const { dash } = service

type AnOwner = Awaited<ReturnType<typeof service.owner>>

/** Carries out what is due; a worker can close cards. */
const endDue = () => sweepAtOnce(worker)

/** Posts a bank credit and returns its outcome. */
async function bankCredit(to: { readonly iban?: string; readonly text?: string }) {
  const bankReference = newReference()
  const xml = camt([{ reference: bankReference, amount: '40.00', details: [payment(to)] }])
  const body = { content: Buffer.from(xml).toString('base64'), mode: 'test' as const }
  await bodyOf(dash.incoming.readFile({ body }))
  const { data } = await bodyOf(dash.incoming.list({ query: { limit: 100 } }))
  const credit = data.find(one => one.bankReference === bankReference)
  if (!credit) throw new Error('the file had one credit')
  return credit
}

async function aForgottenOwner() {
  const owner = await service.owner()
  const wallet = await aWallet(owner.client)
  const reference = await referenceIn(service, wallet.id)
  await forget(service, owner, endDue)
  return { ...owner, iban: String(wallet.iban), reference, walletId: wallet.id }
}

const RETURNED = { reference: 'RET-2026-0007' }

const sendBack = (id: string, body: object = {}) =>
  dash.incoming.returnCredit({ params: { id }, body: { ...RETURNED, ...body } })

async function expectSound(ownerId: string): Promise<void> {
  const verified = dash.ledger.verifyOwner({ params: { id: ownerId }, body: { mode: 'test' } })
  expect(await bodyOf(verified)).toMatchObject({ ok: true, problems: [] })
}

const suspenseOf = (ownerId: string) =>
  service.sql(
    `select posted_cents::int as cents from ledger_accounts where owner_id = $1 and mode = 'test' and kind = 'suspense'`,
    [ownerId],
  )

const network = networkBefore(service)

/** Thirty euros paid by card and twenty by transfer, from an account that is empty now. */
async function whatOthersMayGiveBack(owner: AnOwner) {
  const { client } = owner
  const { agent, card } = await aPayingCard(client, 30)
  const { authorizationId } = await network.authorize(card.id, 30)
  await network.clear(card.id, authorizationId, 30)
  const { id } = await aSepaTransfer(client, { amountEuros: 20 })
  await bodyOf(client.sandbox.advance({ body: { minutes: 5 } }))
  const { status, endToEndId } = await bodyOf(client.transfers.get({ params: { id } }))
  expect(status).toBe('completed')
  await bodyOf(client.agents.delete({ params: { id: agent.id } }))
  return { cardId: card.id, authorizationId, endToEndId: String(endToEndId) }
}

/** Leaves money in suspense without a credit, as a refund does when no wallet is open. */
async function anOwnerWithMoneyInSuspense(amountEuros: number): Promise<string> {
  const { ownerId, client } = await service.owner()
  const sent = { iban: 'DE89370400440532013000', amountEuros, senderName: 'Adler GmbH' }
  const { id } = await bodyOf(client.incoming.simulate({ body: sent }))
  await service.sql('delete from incoming_credits where id = $1', [id])
  return ownerId
}

const accountsInSuspense = async () => (await bodyOf(dash.incoming.suspense({ query: { limit: 100 } }))).data

describe('money for an account that was forgotten', () => {
  test('comes into none of its wallets, which are closed, and waits with the platform', async () => {
    const { ownerId, iban, reference, walletId } = await aForgottenOwner()
    expect(await service.sql('select status from wallets where owner_id = $1', [ownerId])).toEqual([
      { status: 'closed' },
    ])
    for (const to of [{ iban }, { text: reference }])
      expect(await bankCredit(to)).toMatchObject({
        ownerId: PLATFORM_OWNER_ID,
        status: 'unmatched',
        reason: 'wallet_closed',
        walletId: null,
        amountEuros: 40,
      })
    expect(await service.sql('select id from incoming_credits where owner_id = $1', [ownerId])).toEqual([])
    const told = `select data ->> 'walletId' as id from events where owner_id = $1 and event = 'wallet.closed'`
    expect(await service.sql(told, [ownerId])).toEqual([{ id: walletId }])
    expect((await dash.incoming.assign({ params: { id: 'credit_1' }, body: { walletId } })).status).toBe(404)
  })

  test('is sent back once, however many record it at once', async () => {
    const credit = await bankCredit({ iban: (await aForgottenOwner()).iban })
    const [before] = await suspenseOf(PLATFORM_OWNER_ID)
    const answers = await times(10, () => sendBack(credit.id))
    expect(statusCounts(answers)).toEqual({ 200: 1, 400: 9 })
    const { data } = await bodyOf(dash.incoming.list({ query: { status: 'returned' } }))
    expect(data[0]).toMatchObject({
      id: credit.id,
      status: 'returned',
      returnReference: RETURNED.reference,
      returnedAt: expect.any(String),
    })
    expect(await suspenseOf(PLATFORM_OWNER_ID)).toEqual([{ cents: Number(before?.cents) - 4_000 }])
    expect((await sendBack(credit.id)).code).toBe('credit_not_unmatched')
    await expectSound(PLATFORM_OWNER_ID)
  })

  test('is sent back in the past only, and not before it has come', async () => {
    const credit = await bankCredit({ iban: (await aForgottenOwner()).iban })
    for (const returnedAt of ['2999-01-01T00:00:00Z', '2026-11-18T23:59:59Z'])
      expect((await sendBack(credit.id, { returnedAt })).code).toBe('time_to_come')
    const { body } = await sendBack(credit.id, { returnedAt: '2026-11-19T08:00:00.000Z' })
    expect(body).toMatchObject({ status: 'returned', returnedAt: '2026-11-19T08:00:00.000Z' })
  })

  test('stays with its owner while that owner is active, and cannot be returned', async () => {
    const { client } = await service.owner()
    const wallet = await aWallet(client)
    await bodyOf(client.wallets.close({ params: { id: wallet.id } }))
    const sent = { iban: String(wallet.iban), amountEuros: 40, senderName: 'Adler GmbH' }
    const { id } = await bodyOf(client.incoming.simulate({ body: sent }))
    expect((await sendBack(id)).code).toBe('credit_of_owner')
    expect((await sendBack(newId('credit'))).code).toBe('credit_not_found')
    expect((await bodyOf(client.incoming.getOwn({ params: { id } }))).status).toBe('unmatched')
  })

  test('that comes in the moment in which its wallets are closed is in a wallet, or in suspense, and whole', async () => {
    const owner = await service.owner()
    const { id: walletId, iban } = await aWallet(owner.client)
    const { id } = await bodyOf(owner.client.gdpr.createDeletion({ body: {} }))
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [owner.ownerId, 7 * 86_400_000])
    await goOnWith(service, id, endDue)
    const [credit] = await Promise.all([bankCredit({ iban: String(iban) }), goOnWith(service, id, endDue)])
    const { status } = await bodyOf(dash.gdpr.getDeletion({ params: { id } }))
    const [wallet] = await service.sql<{ cents: number; status: string }>(
      `select posted_cents::int as cents, (select status from wallets where id = $1) as status
       from ledger_accounts where wallet_id = $1`,
      [walletId],
    )
    const isClosed = wallet?.status === 'closed'
    expect(wallet?.cents).toBe(isClosed ? 0 : 4_000)
    expect(status).toMatch(isClosed ? /forgetting|completed/ : /ending|waiting/)
    const [found] = await service.sql<{ status: string }>(
      'select status from incoming_credits where id = $1 order by status desc limit 1',
      [credit.id],
    )
    expect(found?.status).toBe(isClosed ? 'unmatched' : 'matched')
    for (const ownerId of [owner.ownerId, PLATFORM_OWNER_ID]) await expectSound(ownerId)
  })

  test('erases names in sums that are written after the deletion', async () => {
    const owner = await service.owner()
    const { ownerId } = owner
    await whatOthersMayGiveBack(owner)
    await forget(service, owner, endDue)
    const NAMED = `
      select value as name from spend_cells where owner_id = $1 and view = 'merchant' and value not like 'forgotten-%'
      union all select name from merchant_names where owner_id = $1 and name not like 'forgotten-%'`
    const isNamed = async () => (await service.sql(NAMED, [ownerId])).length > 0
    await until('the payments are in the sums', async () => {
      await countAll(service)
      return isNamed()
    })
    const LATER = 'update tenant_clocks set offset_ms = offset_ms + $2 where owner_id = $1'
    await service.sql(LATER, [ownerId, 23 * 3_600_000])
    await endDue()
    expect(await isNamed()).toBe(true)
    await service.sql(LATER, [ownerId, 2 * 3_600_000])
    await endDue()
    expect(await isNamed()).toBe(false)
  })

  test('that a merchant collects although the payment was declined is booked once, and its refund, too', async () => {
    const owner = await service.owner()
    const { ownerId, client } = owner
    const { agent, card } = await aPayingCard(client, 10)
    const { authorizationId } = await network.authorize(card.id, 30)
    const paid = await network.authorize(card.id, 10)
    await network.clear(card.id, paid.authorizationId, 10)
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    await forget(service, owner, endDue)
    const paymentOf = () =>
      service.sql(
        `select merchant, status, cleared_cents::int as cleared from card_authorizations
         where owner_id = $1 and processor_ref = $2`,
        [ownerId, authorizationId],
      )
    expect(await paymentOf()).toEqual([{ merchant: '[forgotten]', status: 'declined', cleared: 0 }])
    const clearingId = newId('clearing')
    for (let delivery = 1; delivery <= 2; delivery++)
      expect(await network.clear(card.id, authorizationId, 30, { clearingId })).toMatchObject({ status: 200 })
    expect(await paymentOf()).toEqual([expect.objectContaining({ status: 'cleared', cleared: 3_000 })])
    await expectSound(ownerId)
    await network.refund(card.id, authorizationId, 30)
    expect(await paymentOf()).toEqual([expect.objectContaining({ status: 'refunded', cleared: 3_000 })])
    await expectSound(ownerId)
  })

  test('comes back as a refund or a returned transfer, and is paid out to the person once', async () => {
    const owner = await service.owner()
    const { ownerId } = owner
    const { cardId, authorizationId, endToEndId } = await whatOthersMayGiveBack(owner)
    await forget(service, owner, endDue)
    await network.refund(cardId, authorizationId, 30)
    const file = camt([returnedBooking(endToEndId, '20.00')])
    await bodyOf(dash.rails.read({ body: { content: Buffer.from(file).toString('base64'), mode: 'test' } }))
    await endDue()
    expect(await suspenseOf(ownerId)).toEqual([{ cents: 5_000 }])
    expect(await accountsInSuspense()).toContainEqual(
      expect.objectContaining({ ownerId, suspenseEuros: 50, creditsEuros: 0, freeEuros: 50 }),
    )
    const out = (amountEuros: number, reference: string) =>
      dash.incoming.payOut({ body: { ownerId, mode: 'test', amountEuros, reference } })
    expect((await out(50.01, 'OUT-1')).code).toBe('exceeds_suspense_balance')
    const answers = await times(8, () => out(30, 'OUT-2'))
    expect(statusCounts(answers)).toEqual({ 200: 8 })
    expect(await suspenseOf(ownerId)).toEqual([{ cents: 2_000 }])
    expect(await out(20, 'OUT-2')).toMatchObject({
      status: 409,
      code: 'reference_used',
      error: expect.stringMatching(/^reference: € 30\.00 is already booked under it for this owner\./),
    })
    expect((await out(30, 'OUT-2')).status).toBe(200)
    const race = await times(8, index => out(5 + (index % 2) * 5, 'OUT-4'))
    expect(statusCounts(race)).toEqual({ 200: 4, 409: 4 })
    const left = race[0]?.status === 200 ? 15 : 10
    expect(await suspenseOf(ownerId)).toEqual([{ cents: left * 100 }])
    const others = await times(4, index => out(left, `OUT-3-${index}`))
    expect(statusCounts(others)).toEqual({ 200: 1, 400: 3 })
    expect(await suspenseOf(ownerId)).toEqual([{ cents: 0 }])
    await expectSound(ownerId)
  })

  test('is paid out to one owner under one reference, however many are recorded under it at once', async () => {
    const owners = await times(4, () => anOwnerWithMoneyInSuspense(40))
    const reference = newId('payout')
    const out = (ownerId: string) =>
      dash.incoming.payOut({ body: { ownerId, mode: 'test', amountEuros: 30, reference } })
    const answers = await times(8, index => out(owners[index % 4] ?? ''))
    expect(statusCounts(answers)).toEqual({ 200: 2, 409: 6 })
    const paid = owners[answers.findIndex(({ status }) => status === 200)] ?? ''
    const [first] = owners.filter(ownerId => ownerId !== paid)
    expect(await out(first ?? '')).toMatchObject({
      code: 'reference_used',
      error: `reference: it is already booked for a payment to ${paid}. Use the reference of this payment.`,
    })
    for (const ownerId of owners)
      expect(await suspenseOf(ownerId)).toEqual([{ cents: ownerId === paid ? 1_000 : 4_000 }])
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { challengeOf, credentialFor, present } from '../support/commerce/machine-payer.ts'
import { aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { type KillableApi, killableApi } from '../support/processes/killable-api.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

let api!: KillableApi
beforeAll(async () => {
  api = await killableApi()
})
afterAll(() => api.stop())

interface Payee {
  readonly client: () => TestClient
  readonly walletId: string
  readonly requestId: string
  readonly url: () => string
}

async function aPayee(): Promise<Payee> {
  const key = await api.owner()
  const client = () => api.client(key)
  const { id: walletId } = await aWallet(client())
  const { id: requestId } = await bodyOf(
    client().collect.create({
      body: {
        walletId,
        amountEuros: 12.5,
        description: 'Report 17',
        expiresInHours: 72,
        unlocks: { report: 17 },
      },
    }),
  )
  return { client, walletId, requestId, url: () => `${api.url()}/collect/402/${requestId}` }
}

const balance = async ({ client, walletId }: Payee) =>
  (await bodyOf(client().wallets.get({ params: { id: walletId } }))).availableEuros

const request = ({ client, requestId }: Payee) => bodyOf(client().collect.get({ params: { id: requestId } }))

const settlements = async ({ client, requestId }: Payee) =>
  (await bodyOf(client().settlements.list({ query: { requestId } }))).data

const anHour = ({ client }: Payee) => bodyOf(client().sandbox.advance({ body: { minutes: 60 } }))

/** The payment arrived once, and presenting the same bytes again returns what was paid for. */
async function expectPaidOnce(payee: Payee, credential: string): Promise<void> {
  expect(await settlements(payee)).toMatchObject([{ status: 'paid', amountEuros: 12.5 }])
  expect(await request(payee)).toMatchObject({ status: 'paid', paidEuros: 12.5, surplusEuros: 0 })
  expect(await balance(payee)).toBe(12.5)
  const again = await present(payee.url(), credential)
  expect(again).toMatchObject({ status: 200, body: { unlocks: { report: 17 } } })
  expect(again.receipt?.status).toBe('success')
  await expectVerifiedLedger(payee.client())
}

describe('an API process that is killed while it is paid', () => {
  test('before the charge is on record has charged nothing', async () => {
    const payee = await aPayee()
    const credential = credentialFor(await challengeOf(payee.url()))
    const release = await api.hold('select from payment_requests where id = $1 for update', [payee.requestId])
    await api.killDuring(() => present(payee.url(), credential), api.isWaiting)
    await release()
    expect(await settlements(payee)).toEqual([])
    expect(await request(payee)).toMatchObject({ status: 'open', paidEuros: 0 })
    expect(await present(payee.url(), credential)).toMatchObject({ status: 200 })
    await expectPaidOnce(payee, credential)
  })

  test('after that is charged once: the acquirer is asked, and the same bytes get the receipt', async () => {
    const payee = await aPayee()
    const credential = credentialFor(await challengeOf(payee.url()))
    const release = await api.hold(
      `select from ledger_accounts where owner_id = (select owner_id from wallets where id = $1) for update`,
      [payee.walletId],
    )
    const isCharged = async () => (await settlements(payee)).length > 0 && (await api.isWaiting())
    await api.killDuring(() => present(payee.url(), credential), isCharged)
    await release()
    expect(await settlements(payee)).toMatchObject([{ status: 'charging' }])
    expect(await balance(payee)).toBe(0)
    const other = credentialFor(await challengeOf(payee.url()))
    expect(await present(payee.url(), other)).toMatchObject({ status: 409, challenges: [] })
    await anHour(payee)
    await expectPaidOnce(payee, credential)
  })
})

describe('an API process that is killed while it gives money back to a card', () => {
  const KEY = { idempotencyKey: 'give-it-back' }
  const giveBack = ({ client, requestId }: Payee) =>
    client().collect.refund({ params: { id: requestId }, body: {}, ...KEY })

  const refunds = async ({ client, requestId }: Payee) =>
    (await bodyOf(client().collect.refunds({ params: { id: requestId } }))).data

  async function aPaidPayee(): Promise<Payee> {
    const payee = await aPayee()
    const credential = credentialFor(await challengeOf(payee.url()))
    expect(await present(payee.url(), credential)).toMatchObject({ status: 200 })
    return payee
  }

  /** The lease of a request ended by a crash expires after two minutes. */
  const lapseLease = () =>
    api.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes'`)

  async function expectGivenBackOnce(payee: Payee): Promise<void> {
    expect(await refunds(payee)).toMatchObject([{ status: 'completed', amountEuros: 12.5 }])
    expect(await request(payee)).toMatchObject({
      status: 'refunded',
      refundedEuros: 12.5,
      refundingEuros: 0,
    })
    expect(await balance(payee)).toBe(0)
    expect(await giveBack(payee)).toMatchObject({ body: { refunds: [{ amountEuros: 12.5 }] } })
    expect(await refunds(payee)).toHaveLength(1)
    await expectVerifiedLedger(payee.client())
  }

  test('before the refund is on record has given nothing, and the same request gives it', async () => {
    const payee = await aPaidPayee()
    const release = await api.hold('select from payment_requests where id = $1 for update', [payee.requestId])
    await api.killDuring(() => giveBack(payee), api.isWaiting)
    await release()
    expect(await refunds(payee)).toEqual([])
    expect(await balance(payee)).toBe(12.5)
    expect((await giveBack(payee)).status).toBe(200)
    await expectGivenBackOnce(payee)
  })

  test('after the acquirer has given it back, before that is recorded, records it once', async () => {
    const payee = await aPaidPayee()
    await api.sql(`
      create function wait_for_test() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(4711); return new; end $$;
      create trigger wait before update on refunds for each row execute function wait_for_test()`)
    const release = await api.hold('select pg_advisory_lock($1)', [4711])
    await api.killDuring(() => giveBack(payee), api.isWaiting)
    await api.endWaiting()
    await release()
    await api.sql('drop function wait_for_test cascade')
    expect(await refunds(payee)).toMatchObject([{ status: 'pending', amountEuros: 12.5 }])
    expect(await request(payee)).toMatchObject({ status: 'paid', refundingEuros: 12.5 })
    expect(await balance(payee)).toBe(0)
    await lapseLease()
    expect(await giveBack(payee)).toMatchObject({ status: 200, body: { refunds: [{ status: 'pending' }] } })
    await anHour(payee)
    await expectGivenBackOnce(payee)
  })
})

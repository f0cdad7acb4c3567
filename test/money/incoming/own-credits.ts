import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { aLiveClient, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { referenceIn } from '../../support/money/incoming.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()
const FOREIGN = 'DE89370400440532013000'

const send = (client: TestClient, members: object = {}) =>
  bodyOf(
    client.incoming.simulate({
      body: { iban: FOREIGN, amountEuros: 40, senderName: 'Adler GmbH', ...members },
    }),
  )
const balanceOf = async (client: TestClient, id: string) =>
  (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

async function anOwnerWithACredit() {
  const owner = await service.owner()
  const [credit, wallet] = [await send(owner.client), await aWallet(owner.client)]
  const assign = (walletId: string, id = credit.id) =>
    owner.client.incoming.assignOwn({ params: { id }, body: { walletId } })
  return { ...owner, credit, wallet, assign }
}

describe('an owner', () => {
  test('lists the own incoming credits, and assigns one that waits to a wallet', async () => {
    const { client, credit, wallet, assign } = await anOwnerWithACredit()
    const waiting = async () =>
      (await bodyOf(client.incoming.own({ query: { status: 'unmatched' } }))).data.map(({ id }) => id)
    expect(await waiting()).toEqual([credit.id])
    expect(await assign(wallet.id)).toMatchObject({
      status: 200,
      body: { id: credit.id, status: 'assigned', walletId: wallet.id, reason: 'no_wallet' },
    })
    expect([await waiting(), await balanceOf(client, wallet.id)]).toEqual([[], 40])
    expect((await bodyOf(client.incoming.getOwn({ params: { id: credit.id } }))).status).toBe('assigned')
    const { data } = await bodyOf(client.incoming.own({ query: { walletId: wallet.id } }))
    expect(data).toMatchObject([{ id: credit.id, amountEuros: 40 }])
    await expectVerifiedLedger(client)
  })

  test('assigns by the reference that the sender has mistyped, which pays its request', async () => {
    const { client, credit, wallet } = await anOwnerWithACredit()
    const request = await bodyOf(
      client.collect.create({
        body: { walletId: wallet.id, amountEuros: 40, description: 'Report', expiresInHours: 24 },
      }),
    )
    const params = { id: credit.id }
    const assigned = await bodyOf(
      client.incoming.assignOwn({ params, body: { reference: request.reference } }),
    )
    expect(assigned).toMatchObject({ walletId: wallet.id, payableType: 'request', payableId: request.id })
    expect((await bodyOf(client.collect.get({ params: { id: request.id } }))).status).toBe('paid')
    await expectVerifiedLedger(client)
  })

  test('assigns a credit once, whether twenty ask at once or the operator is among them', async () => {
    const { client, credit, wallet, assign } = await anOwnerWithACredit()
    const other = await aWallet(client)
    const answers = await times(20, index =>
      index % 4 === 3
        ? service.dash.incoming.assign({ params: { id: credit.id }, body: { walletId: other.id } })
        : assign(index % 2 === 0 ? wallet.id : other.id),
    )
    expect(statusCounts(answers)).toEqual({ 200: 1, 400: 19 })
    const balances = await Promise.all([wallet, other].map(({ id }) => balanceOf(client, id)))
    expect(balances.toSorted((one, two) => one - two)).toEqual([0, 40])
    expect((await assign(wallet.id)).code).toBe('credit_not_unmatched')
    await expectVerifiedLedger(client)
  })

  test('moves nothing of another owner, of the other mode, or of the platform', async () => {
    const { client, credit, wallet, assign } = await anOwnerWithACredit()
    const stranger = await anOwnerWithACredit()
    const live = await aWallet(await aLiveClient(service, stranger))
    for (const [attempt, code] of [
      [await stranger.assign(stranger.wallet.id, credit.id), 'credit_not_found'],
      [await assign(stranger.wallet.id), 'wallet_not_found'],
      [await stranger.assign(live.id), 'wallet_not_found'],
    ] as const)
      expect(attempt).toMatchObject({ status: 404, code })
    const reference = await referenceIn(service, stranger.wallet.id)
    const byReference = client.incoming.assignOwn({ params: { id: credit.id }, body: { reference } })
    expect((await byReference).code).toBe('reference_not_found')
    expect((await client.incoming.getOwn({ params: { id: stranger.credit.id } })).code).toBe(
      'credit_not_found',
    )
    const [platform] = await service.sql<{ id: string }>(
      `insert into incoming_credits (id, created_at, updated_at, mode, owner_id, status, reason, amount_cents, source, origin, bank_reference, part, value_date)
       values ('credit_of_the_house', now(), now(), 'test', 'customer_house', 'unmatched', 'no_wallet', 100, 'bank', 'x', 'y', 0, now()) returning id`,
    )
    expect((await assign(wallet.id, String(platform?.id))).code).toBe('credit_not_found')
    const balances = [
      await balanceOf(client, wallet.id),
      await balanceOf(stranger.client, stranger.wallet.id),
    ]
    expect(balances).toEqual([0, 0])
    expect((await bodyOf(client.incoming.own({}))).data.map(({ id }) => id)).toEqual([credit.id])
    await service.sql(`delete from incoming_credits where id = 'credit_of_the_house'`)
  })

  test('sees no payment to another owner among what has come in', async () => {
    const { client, ownerId, wallet, credit, assign } = await anOwnerWithACredit()
    const values = [ownerId, credit.id, wallet.id]
    await service.sql(
      `update incoming_credits set status = 'handed_over', to_owner_id = 'customer_house', wallet_id = $3
       where owner_id = $1 and id = $2`,
      values,
    )
    expect((await bodyOf(client.incoming.own({}))).data).toEqual([])
    expect((await assign(wallet.id)).code).toBe('credit_not_found')
    await service.sql(
      `update incoming_credits set status = 'unmatched', to_owner_id = null, wallet_id = null
       where owner_id = $1 and id = $2 and $3 <> ''`,
      values,
    )
  })
})

test('refuses viewers and agents’ tokens to assign credits', async () => {
  const { credit, wallet, ...owner } = await anOwnerWithACredit()
  const { headers } = await signedInTo(service, owner, { role: 'viewer' })
  const address = `${service.url}/incoming`
  expect((await fetch(address, { headers })).status).toBe(200)
  const assigned = await fetch(`${address}/${credit.id}/assign`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ walletId: wallet.id }),
  })
  expect(assigned.status).toBe(403)
  expect(await balanceOf(owner.client, wallet.id)).toBe(0)
})

import { describe, expect, test } from '@jest/globals'
import {
  aRequest,
  balanceOf,
  eventsAbout,
  getRequest,
  paymentsOn,
  sendEuros,
} from '../../support/commerce/requests.ts'
import { aFundedAgent, aLiveClient, anAgent, aToken, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

async function anOwner() {
  const owner = await service.owner()
  const wallet = await aWallet(owner.client)
  return { ...owner, wallet }
}

type Owner = Awaited<ReturnType<typeof anOwner>>

const aCredit = ({ client, wallet }: Owner, amountEuros = 25) =>
  sendEuros(client, amountEuros, 'for the report', { iban: String(wallet.iban) })

const settle = ({ client }: Pick<Owner, 'client'>, id: string, creditId?: string) =>
  client.collect.settle({ params: { id }, body: creditId === undefined ? {} : { creditId } })

describe('a payment request is settled', () => {
  test('by a credit without its reference', async () => {
    const owner = await anOwner()
    const { id } = await aRequest(owner.client, owner.wallet.id)
    const credit = await aCredit(owner)
    expect(await getRequest(owner.client, id)).toMatchObject({ status: 'open', paidEuros: 0 })
    expect(await bodyOf(settle(owner, id, credit.id))).toMatchObject({
      status: 'paid',
      paidEuros: 25,
      paidBy: 'sepa',
    })
    expect(await paymentsOn(owner.client, id)).toMatchObject([{ way: 'sepa', sourceId: credit.id }])
    expect(await balanceOf(owner.client, owner.wallet.id)).toEqual([25, 0])
    expect((await eventsAbout(owner.client, id)).map(({ event }) => event)).toEqual(['created', 'paid'])
  })

  test('in part, or with a surplus, as any credit', async () => {
    const owner = await anOwner()
    const { id } = await aRequest(owner.client, owner.wallet.id)
    expect(await bodyOf(settle(owner, id, (await aCredit(owner, 20)).id))).toMatchObject({
      status: 'open',
      paidEuros: 20,
    })
    expect(await bodyOf(settle(owner, id, (await aCredit(owner, 20)).id))).toMatchObject({
      status: 'paid',
      paidEuros: 25,
      surplusEuros: 15,
    })
  })

  test('by the sandbox bank in test mode, where no credit is named: with what is due', async () => {
    const owner = await anOwner()
    const { id, reference } = await aRequest(owner.client, owner.wallet.id)
    await sendEuros(owner.client, 5, reference)
    expect(await bodyOf(settle(owner, id))).toMatchObject({ status: 'paid', paidEuros: 25, surplusEuros: 0 })
    expect((await paymentsOn(owner.client, id)).map(({ amountEuros }) => amountEuros)).toEqual([5, 20])
    expect(await balanceOf(owner.client, owner.wallet.id)).toEqual([25, 0])
    await expectVerifiedLedger(owner.client)
  })

  test('once by the sandbox bank, however many settle it at once', async () => {
    const owner = await anOwner()
    const { id } = await aRequest(owner.client, owner.wallet.id)
    const answers = await Promise.all(Array.from({ length: 8 }, () => settle(owner, id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    expect(await getRequest(owner.client, id)).toMatchObject({ paidEuros: 25, surplusEuros: 0 })
    expect(await balanceOf(owner.client, owner.wallet.id)).toEqual([25, 0])
  })

  test('once by one credit, however many requests it is named for at once', async () => {
    const owner = await anOwner()
    const requests = await Promise.all(
      Array.from({ length: 8 }, () => aRequest(owner.client, owner.wallet.id)),
    )
    const credit = await aCredit(owner)
    const answers = await Promise.all(
      [...requests, ...requests].map(({ id }) => settle(owner, id, credit.id)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 200).map(({ code }) => code)
    expect(new Set(refused)).toEqual(new Set(['credit_pays_already', 'request_not_open']))
    const now = await Promise.all(requests.map(({ id }) => getRequest(owner.client, id)))
    expect(now.filter(({ status }) => status === 'paid')).toHaveLength(1)
    expect(now.reduce((sum, { paidEuros }) => sum + paidEuros, 0)).toBe(25)
  })

  test('once under one key', async () => {
    const owner = await anOwner()
    const { id } = await aRequest(owner.client, owner.wallet.id)
    const options = { token: owner.key, body: {}, headers: { 'idempotency-key': 'settle-once' } }
    const path = `/collect/requests/${id}/settle`
    const first = await service.http('POST', path, options)
    const again = await service.http('POST', path, options)
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })
})

describe('no payment request is settled', () => {
  test('by a credit that names one already, is in another wallet, or is not there', async () => {
    const owner = await anOwner()
    const { client, wallet } = owner
    const one = await aRequest(client, wallet.id)
    const other = await aRequest(client, wallet.id)
    const counted = await sendEuros(client, 5, one.reference)
    expect(await settle(owner, other.id, counted.id)).toMatchObject({
      status: 400,
      code: 'credit_pays_already',
    })
    const elsewhere = await aCredit({ ...owner, wallet: await aWallet(client) })
    expect(await settle(owner, one.id, elsewhere.id)).toMatchObject({
      status: 400,
      code: 'credit_not_in_wallet',
    })
    const strangers = await aCredit(await anOwner())
    for (const creditId of [strangers.id, 'credit_01jd8x2m4ye7k9v0c3q5r6t8wz'])
      expect(await settle(owner, one.id, creditId)).toMatchObject({ status: 404, code: 'credit_not_found' })
    expect(await getRequest(client, one.id)).toMatchObject({ status: 'open', paidEuros: 5 })
    expect(await getRequest(client, other.id)).toMatchObject({ status: 'open', paidEuros: 0 })
  })

  test('that waits for no money any more', async () => {
    const owner = await anOwner()
    const { id } = await aRequest(owner.client, owner.wallet.id)
    await bodyOf(owner.client.collect.cancel({ params: { id }, body: {} }))
    const credit = await aCredit(owner)
    for (const creditId of [credit.id, undefined])
      expect(await settle(owner, id, creditId)).toMatchObject({
        status: 400,
        code: 'request_not_open',
        error: 'The request is already cancelled.',
      })
    expect(await balanceOf(owner.client, owner.wallet.id)).toEqual([25, 0])
  })

  test('whose deadline has passed: it expires', async () => {
    const owner = await anOwner()
    const { id } = await aRequest(owner.client, owner.wallet.id, { expiresInHours: 1 })
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [owner.ownerId, 3_600_000])
    expect(await settle(owner, id)).toMatchObject({ status: 400, code: 'request_not_open' })
    expect((await getRequest(owner.client, id)).status).toBe('expired')
  })

  test('in live mode without a credit, as the sandbox bank has no live money', async () => {
    const live = await aLiveClient(service, await service.owner())
    const { id } = await aRequest(live, (await aWallet(live)).id)
    expect(await settle({ client: live }, id)).toMatchObject({ status: 400, code: 'credit_required' })
  })

  test('by an agent that it does not belong to, or by another owner', async () => {
    const owner = await anOwner()
    const { client } = owner
    const agent = await aFundedAgent(client, {}, 1)
    const scopes = ['collect:write', 'collect:read'] as const
    const token = String((await aToken(client, agent.id, { scopes: [...scopes] })).token)
    const own = await aRequest(client, agent.walletId)
    const theirs = await aRequest(client, (await anAgent(client)).walletId)
    const asAgent = { client: service.client(token) }
    expect(await settle(asAgent, theirs.id)).toMatchObject({ status: 404, code: 'request_not_found' })
    expect(await settle(await anOwner(), theirs.id)).toMatchObject({ status: 404 })
    expect(await bodyOf(settle(asAgent, own.id))).toMatchObject({ status: 'paid' })
  })
})

test('a settlement and a credit with the reference at once count both, to the cent', async () => {
  const owner = await anOwner()
  const { client, wallet } = owner
  for (let round = 0; round < 4; round++) {
    const { id, reference } = await aRequest(client, wallet.id)
    const credit = await aCredit(owner, 25)
    const [settled] = await Promise.all([settle(owner, id, credit.id), sendEuros(client, 25, reference)])
    const { status, paidEuros, surplusEuros } = await getRequest(client, id)
    expect([status, paidEuros]).toEqual(['paid', 25])
    expect(surplusEuros).toBe(settled.status === 200 ? 25 : 0)
  }
})

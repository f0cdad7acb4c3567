import { afterAll, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { newId } from '../../src/values/ids.ts'
import { activitiesOf } from '../support/activities.ts'
import { aDispute, aPaidCard } from '../support/commerce/disputes.ts'
import { challengeOf, credentialFor, present } from '../support/commerce/machine-payer.ts'
import { answerWith, demand, startMerchant } from '../support/commerce/merchant.ts'
import { aPayer, credentialsOn, pay } from '../support/commerce/payers.ts'
import { payByCard, refund } from '../support/commerce/refunds.ts'
import { aRequest } from '../support/commerce/requests.ts'
import { openEngine } from '../support/engine.ts'
import { aLiveClient, aSepaTransfer, aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { advance } from '../support/sandbox.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'
import { authorize, clear } from './mpp/network.ts'
import { service } from './mpp/service.ts'

const merchant = await startMerchant()
const unclear = merchant.sells('/unclear', demand(), answerWith(500))
const engine = openEngine(areas, service.databaseUrl)
afterAll(() => engine.close())
const run = activitiesOf(engine.runtime)({ requestIdOf: ({ id }) => `workflow of ${id}` })

interface Doubt {
  readonly client: TestClient
  readonly ownerId: string
  /** The record that holds the money, and that of its run. */
  readonly id: string
  readonly ofRun?: string
  /** What ends the doubt. */
  readonly by: Readonly<Record<string, () => Promise<unknown>>>
}

const later = (client: TestClient, minutes: number) => () => advance(client, { minutes })

/** The sandbox's bank never settles this amount, and agrees to each recall. */
async function aTransfer(owner = service.owner()): Promise<Doubt> {
  const { client, ownerId } = await owner
  const { id } = await aSepaTransfer(client, { amountEuros: 777.06 })
  await advance(client, { minutes: 1 })
  return {
    ...{ client, ownerId, id },
    by: {
      settled: () => bodyOf(client.transfers.simulateSettle({ body: { transferId: id } })),
      async recall() {
        await bodyOf(client.transfers.recall({ params: { id }, body: { reason: 'Twice' } }))
        await advance(client, { minutes: 1 })
      },
    },
  }
}

async function aMachinePayment(): Promise<Doubt> {
  const payer = await aPayer(service)
  const { client, owner, intent } = payer
  await pay(payer, unclear)
  const id = String((await credentialsOn(client, intent.id))[0]?.id)
  const resolve = (outcome: 'paid' | 'not_paid') => () =>
    bodyOf(client.mpp.resolve({ params: { id }, body: { outcome } }))
  return {
    ...{ client, id, ownerId: owner.ownerId },
    by: {
      paid: resolve('paid'),
      notPaid: resolve('not_paid'),
      async cleared() {
        const { authorizationId } = await authorize(payer)
        await clear(payer, authorizationId)
      },
      deadline: () => advance(client, { days: 32 }),
    },
  }
}

/** The acquirer answers for this card a minute later, with this outcome. */
async function aCharge(number: string): Promise<Doubt> {
  const { client, ownerId } = await service.owner()
  const wallet = await aWallet(client)
  const { id: requestId } = await aRequest(client, wallet.id)
  const url = `${service.url}/collect/402/${requestId}`
  const { status } = await present(url, credentialFor(await challengeOf(url), { number }))
  expect(status).toBe(504)
  const { data } = await bodyOf(client.settlements.list({ query: { requestId } }))
  return {
    ...{ client, ownerId, id: String(data[0]?.id), ofRun: requestId },
    by: { answer: later(client, 2) },
  }
}

/** The card's processor does not answer for an hour about this amount. */
async function aRefund(): Promise<Doubt> {
  const { client, ownerId, transactionId } = await aPaidCard(service, 95)
  const body = { transactionId, amountEuros: 93.03, reason: 'requested' } as const
  const { id } = await bodyOf(client.refunds.create({ body }))
  return {
    ...{ client, ownerId, id },
    by: { answer: later(client, 180), cancel: () => bodyOf(client.refunds.cancel({ params: { id } })) },
  }
}

const handledBy = (requestId: string, name: string) =>
  service.sql(
    `update request_payments set charge = jsonb_set(charge, '{handle}', to_jsonb($2::text)) where request_id = $1`,
    [requestId, `test ${name} 2039-12`],
  )

async function aRequestRefund(): Promise<Doubt> {
  const { client, ownerId } = await service.owner()
  const wallet = await aWallet(client)
  const request = await aRequest(client, wallet.id)
  await payByCard(service, client, request)
  await handledBy(request.id, 'silent')
  await bodyOf(refund(client, request.id))
  const { data } = await bodyOf(client.refunds.list({}))
  return {
    ...{ client, ownerId, id: String(data[0]?.id), ofRun: request.id },
    by: {
      async answer() {
        await handledBy(request.id, 'approved')
        await advance(client, { minutes: 10 })
      },
    },
  }
}

/** The card's processor does not answer for an hour about this amount. */
async function aSilentDispute(): Promise<Doubt> {
  const { client, ownerId, transactionId } = await aPaidCard(service, 92.06)
  const { id } = await aDispute(client, transactionId)
  await advance(client, { minutes: 1 })
  return {
    ...{ client, ownerId, id },
    by: { answer: later(client, 180), withdraw: () => bodyOf(client.disputes.withdraw({ params: { id } })) },
  }
}

const sources = {
  transfer: { make: () => aTransfer(), ways: ['settled', 'recall'], read: run.readTransfer, euros: 777.06 },
  machine_payment: {
    ...{ make: aMachinePayment, read: run.readMachinePayment, euros: 20 },
    ways: ['paid', 'notPaid', 'cleared', 'deadline'],
  },
  charge: {
    ...{ make: () => aCharge('4000000000000119'), read: run.readPaymentRequest, euros: 25 },
    ways: ['answer'],
  },
  refund: { make: aRefund, ways: ['answer', 'cancel'], read: run.readRefund, euros: 93.03 },
  request_refund: { make: aRequestRefund, ways: ['answer'], read: run.readPaymentRequest, euros: 25 },
  dispute: { make: aSilentDispute, ways: ['answer', 'withdraw'], read: run.readDispute, euros: 92.06 },
} as const

type Kind = keyof typeof sources

const listed = async (client: TestClient, query: object = {}) =>
  (await bodyOf(client.doubtfulMoney.list({ query: { limit: 100, ...query } }))).data

/** Since when the run shows it as doubtful. */
async function sinceOf(kind: Kind, { ownerId, id, ofRun = id }: Doubt): Promise<string | null> {
  const { doubtfulSince = null } = await sources[kind].read({ id: ofRun, ownerId, mode: 'test' })
  return doubtfulSince
}

const cases = Object.entries(sources).flatMap(([kind, { ways }]) =>
  ways.map(way => [kind as Kind, way] as const),
)

describe('money whose outcome is unknown', () => {
  test.each(cases)('%s, is listed, and shown by its run, until %s ends it', async (kind, way) => {
    const doubt = await sources[kind].make()
    const [entry, ...others] = await listed(doubt.client)
    expect(others).toEqual([])
    expect(entry).toEqual({
      ...{ id: doubt.id, ownerId: doubt.ownerId, mode: 'test', kind, amountEuros: sources[kind].euros },
      ...{ since: expect.any(String), known: expect.stringMatching(/\.$/), verbs: expect.any(Array) },
      workflowId: expect.stringMatching(new RegExp(`/${doubt.ofRun ?? doubt.id}$`)),
    })
    expect(await sinceOf(kind, doubt)).toBe(entry?.since)
    await doubt.by[way]?.()
    expect(await listed(doubt.client)).toEqual([])
    expect(await sinceOf(kind, doubt)).toBe(null)
    await expectVerifiedLedger(doubt.client)
  })

  test('stays so while it is asked about in vain, since the same instant', async () => {
    const { client } = await aCharge('4000000000000127')
    const before = await listed(client)
    await advance(client, { days: 2 })
    expect(await listed(client)).toEqual(before)
    expect(before).toMatchObject([{ kind: 'charge', verbs: [] }])
  })

  test('ends by a decline of the acquirer, too', async () => {
    const { client } = await aCharge('4000000000000341')
    await advance(client, { minutes: 2 })
    expect(await listed(client)).toEqual([])
  })

  test('is none where the answer came at once', async () => {
    const payer = await aPayer(service)
    await bodyOf(pay(payer, merchant.sells('/clear', demand())))
    await aSepaTransfer(payer.client)
    await advance(payer.client, { minutes: 1 })
    expect(await listed(payer.client)).toEqual([])
  })

  test('is listed with the verbs that end it, as calls with the record’s id', async () => {
    const { client, id } = await aMachinePayment()
    const [entry] = await listed(client)
    const call = `POST /v1/mpp/credentials/${id}/resolve`
    expect(entry?.verbs).toEqual(
      ['paid', 'notPaid'].map(verb => ({ verb, by: 'owner', call, isUpdate: true })),
    )
    const transfer = await aTransfer()
    expect((await listed(transfer.client))[0]?.verbs).toEqual([
      { verb: 'recall', by: 'owner', call: `POST /transfers/${transfer.id}/recall`, isUpdate: false },
      { verb: 'report', by: 'operator', call: 'POST /rails/sepa', isUpdate: false },
    ])
  })
})

describe('the list of doubtful money', () => {
  test('is the owner’s in the mode of its key, and all of it the operator’s', async () => {
    const owner = service.owner()
    const [one, other] = [await aTransfer(owner), await aTransfer()]
    const live = await aLiveClient(service, await owner)
    expect(await listed(live)).toEqual([])
    expect((await listed(one.client)).map(({ id }) => id)).toEqual([one.id])
    expect(await listed(one.client, { ownerId: other.ownerId })).toEqual([])
    expect(await listed(one.client, { mode: 'live' })).toEqual([])
    const ofOther = await listed(service.dash, { ownerId: other.ownerId, mode: 'test' })
    expect(ofOther.map(({ id }) => id)).toEqual([other.id])
    expect(await listed(service.dash, { ownerId: other.ownerId, mode: 'live' })).toEqual([])
    expect(await service.client().doubtfulMoney.list({})).toMatchObject({ status: 401 })
  })

  test('has the oldest first, page by page, filtered by kind', async () => {
    const { client, ownerId } = await aTransfer()
    // Two of the same instant follow each other by id.
    const rows = [
      ['2026-01-01Z', 'transfer'],
      ['2026-01-02Z', 'charge'],
      ['2026-01-02Z', 'charge'],
      ['2026-01-04Z', 'refund'],
      ['2026-01-05Z', 'charge'],
    ] as const
    for (const [since, kind] of rows)
      await service.sql(`insert into doubtful_money values ($1, 'test', $2, $3, $4, 5, null)`, [
        ...[ownerId, since, newId('record'), kind],
      ])
    const all = await listed(client)
    expect(all.map(({ since }) => since)).toEqual(all.map(({ since }) => since).toSorted())
    expect(all).toHaveLength(6)
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const query = { limit: 2, ...(cursor && { cursor }) }
      const { data, nextCursor } = await bodyOf(client.doubtfulMoney.list({ query }))
      paged.push(...data.map(({ id }) => id))
      cursor = nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(paged).toEqual(all.map(({ id }) => id))
    const charges = await listed(client, { kind: 'charge' })
    expect(charges.map(({ kind }) => kind)).toEqual(['charge', 'charge', 'charge'])
    const ofOperator = await listed(service.dash, { ownerId, kind: 'charge' })
    expect(ofOperator).toEqual(charges)
  })
})

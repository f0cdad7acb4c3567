import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { ask, challengeOf, credentialFor, present } from '../../support/commerce/machine-payer.ts'
import { aPayer, balanceOf, pay } from '../../support/commerce/payers.ts'
import { sendEuros } from '../../support/commerce/requests.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

/** With two connections, holding one while waiting for another request would block everything. */
const service = await startTestService({ env: { DATABASE_POOL: '2' } })
const payee = await aPayee(service)
const { balance, client, create, get, settlements, urlOf } = payee

describe('agents of another owner that pay our own address', () => {
  test('pay twelve requests at once, each once, by the loopback that nothing else is opened for', async () => {
    const payers = []
    for (let n = 0; n < 12; n++) payers.push(await aPayer(service, { amountEuros: 12.5 }))
    const requests = await times(payers.length, () => create())
    const before = await balance()
    const answers = await Promise.all(payers.map((payer, n) => pay(payer, urlOf(String(requests[n]?.id)))))
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual([])
    for (const { body } of answers) {
      expect(body.receipt).toEqual(expect.any(String))
      expect(body.merchant_body).toMatchObject({ unlocks: { url: 'https://example.com/reports/17' } })
    }
    expect(await balance()).toBe(before + 12 * 12.5)
    for (const payer of payers) expect((await balanceOf(payer)).heldEuros).toBe(0)
    for (const { id } of requests) expect(await settlements(id)).toMatchObject([{ status: 'paid' }])
    await expectVerifiedLedger(client)
    await expectVerifiedLedger(payers[0]?.client ?? client)
  })

  test('pay one request at once: one has paid, and no other has lost anything', async () => {
    const payers = []
    for (let n = 0; n < 5; n++) payers.push(await aPayer(service, { amountEuros: 12.5 }))
    const { id } = await create()
    const before = await balance()
    const funds = (await balanceOf(payers[0] as (typeof payers)[0])).availableEuros
    const counts = statusCounts(await Promise.all(payers.map(payer => pay(payer, urlOf(id)))))
    expect(counts[200]).toBe(1)
    expect(await balance()).toBe(before + 12.5)
    expect(await get(id)).toMatchObject({ status: 'paid', paidEuros: 12.5, surplusEuros: 0 })
    const balances = await Promise.all(payers.map(balanceOf))
    const spent = balances.map(({ availableEuros, heldEuros }) => funds + 12.5 - availableEuros - heldEuros)
    expect(spent.filter(euros => euros > 0)).toEqual([12.5])
  })

  test.each(['/agents', '/simulate/clock', '/collect/requests', '/v1/collect/402/request_1'])(
    'reach nothing else of it: %s',
    async path => {
      const payer = await aPayer(service, { amountEuros: 12.5 })
      expect(await pay(payer, service.url + path)).toMatchObject({ status: 400, code: 'url_refused' })
    },
  )
})

describe('thirty credentials at once for an owner that has no keys yet', () => {
  test('are refused, and the keys are made once', async () => {
    const other = await aPayee(service)
    const { id } = await other.create()
    const answers = await times(30, () => present(other.urlOf(id), 'Payment e30'))
    expect(statusCounts(answers)).toEqual({ 402: 30 })
    const rows = await service.sql('select from mpp_keys where owner_id = $1', [other.owner.ownerId])
    expect(rows).toHaveLength(1)
  })
})

describe('at the same moment', () => {
  test('SEPA and a card pay a request once; what comes later stays in the wallet, marked', async () => {
    for (let n = 0; n < 5; n++) {
      const request = await create()
      const url = urlOf(request.id)
      const value = credentialFor(await challengeOf(url))
      const before = await balance()
      const [card] = await Promise.all([present(url, value), sendEuros(client, 12.5, request.reference)])
      const charged = card.status === 200 ? 12.5 : 0
      expect([200, 402, 409]).toContain(card.status)
      expect(await balance()).toBe(before + 12.5 + charged)
      expect(await get(request.id)).toMatchObject({
        status: 'paid',
        paidEuros: 12.5,
        surplusEuros: charged,
      })
      expect((await settlements(request.id)).length).toBe(charged > 0 ? 1 : 0)
    }
    await expectVerifiedLedger(client)
  })

  test.each(['it expires', 'it is cancelled'])('%s and is paid: one of both has happened', async what => {
    for (let n = 0; n < 5; n++) {
      const request = await create({ expiresInHours: 1 })
      const url = urlOf(request.id)
      const value = credentialFor(await challengeOf(url))
      const before = await balance()
      const end = (): Promise<unknown> =>
        what === 'it expires'
          ? client.sandbox.advance({ body: { minutes: 61 } })
          : client.collect.cancel({ params: { id: request.id }, body: {} })
      const [paid] = await Promise.all([present(url, value), end()])
      const { status } = await get(request.id)
      if (paid.status === 200) {
        expect([status, await balance()]).toEqual(['paid', before + 12.5])
        expect(await present(url, value)).toMatchObject({ status: 200, text: paid.text })
      } else {
        expect([402, 409, 410]).toContain(paid.status)
        expect([['expired', 'cancelled'].includes(status), await balance()]).toEqual([true, before])
        expect((await ask(url)).status).toBe(410)
      }
    }
    await expectVerifiedLedger(client)
  })
})

describe('an owner whose requests were paid', () => {
  test('sees of the payers nothing but the payments', async () => {
    const payer = await aPayer(service, { amountEuros: 12.5 })
    const { id } = await create()
    expect(await pay(payer, urlOf(id))).toMatchObject({ status: 200 })
    const [settlement] = await settlements(id)
    const seen = JSON.stringify([
      settlement,
      await get(id),
      await bodyOf(client.events.list({ query: { limit: 100 } })),
      await bodyOf(client.transactions.list({ query: { limit: 100 } })),
    ])
    for (const secret of [payer.owner.ownerId, payer.agent.id, payer.card.id, payer.intent.id])
      expect(seen).not.toContain(secret)
  })
})

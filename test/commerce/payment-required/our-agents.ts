import { describe, expect, test } from '@jest/globals'
import { aPayer, balanceOf, credentialsOn, intentOf, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService({ own: true })
const { balance, client, create, get, settlements } = await aPayee(service)

describe('an agent of ours', () => {
  test('pays the request of another owner by machine: each side has its own part of one payment', async () => {
    const request = await create({ amountEuros: 20 })
    const payer = await aPayer(service)
    const [before, had] = [await balance(), await balanceOf(payer)]
    const answer = await pay(payer, request.mppUrl)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        merchant_status: 200,
        merchant_body: { requestId: request.id, unlocks: { url: expect.any(String) } },
      },
    })
    expect(answer.body?.receipt).not.toBeNull()
    expect(await get(request.id)).toMatchObject({ status: 'paid', paidBy: 'card', paidEuros: 20 })
    expect(await settlements(request.id)).toMatchObject([{ status: 'paid', network: 'visa' }])
    expect(await balance()).toBe(before + 20)
    expect((await balanceOf(payer)).heldEuros).toBe(had.heldEuros - 20)
    expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
    expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([{ status: 'consumed' }])
    await Promise.all([expectVerifiedLedger(client), expectVerifiedLedger(payer.client)])
  })

  test('pays a merchant of the sandbox', async () => {
    const payer = await aPayer(service)
    const answer = await pay(payer, `${service.url}/simulate/mpp/paid?amountEuros=20`)
    expect(answer).toMatchObject({
      status: 200,
      body: { merchant_body: { scenario: 'paid', amountEuros: 20 } },
    })
    await expectVerifiedLedger(payer.client)
  })

  test('refuses a merchant of the sandbox that calls itself by the address of another site', async () => {
    const payer = await aPayer(service)
    const answer = await pay(payer, `${service.url}/simulate/mpp/other-name?amountEuros=20`)
    expect([answer.status, answer.code, answer.error]).toEqual([
      400,
      'merchant_mismatch',
      expect.stringContaining('calls itself bookshop.example'),
    ])
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
  })

  test('pays a merchant in dollars what the network charges in euros, and keeps the rest of the hold', async () => {
    const payer = await aPayer(service, { amountEuros: 21 })
    const { client, intent } = payer
    const had = await balanceOf(payer)
    const answer = await pay(payer, `${service.url}/simulate/mpp/other-currency?amountEuros=20`)
    expect(answer.status).toBe(200)
    const [credential] = await credentialsOn(client, intent.id)
    expect(credential).toMatchObject({
      status: 'consumed',
      amountEuros: 20.6,
      conversion: { price: '23.20', currency: 'USD', rate: '1.1600', marginPercent: 3 },
    })
    const params = { id: String(credential?.transactionId) }
    expect(await bodyOf(client.transactions.get({ params }))).toMatchObject({
      status: 'completed',
      amountEuros: 20,
    })
    expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
    expect(await balanceOf(payer)).toMatchObject({
      heldEuros: had.heldEuros - 21,
      availableEuros: had.availableEuros + 1,
    })
    const refund = { transactionId: params.id, amountEuros: 20, reason: 'requested' } as const
    expect(await bodyOf(client.refunds.create({ body: refund }))).toMatchObject({ amountEuros: 20 })
    await expectVerifiedLedger(client)
  })

  test('pays no price in dollars that exceeds the hold with the margin', async () => {
    const payer = await aPayer(service)
    const answer = await pay(payer, `${service.url}/simulate/mpp/other-currency?amountEuros=20`)
    expect([answer.code, answer.error]).toEqual([
      'amount_above_held',
      expect.stringMatching(/\$ 23\.20 \(€ 20\.60 by the rate of .* but only € 20\.00 is held/),
    ])
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
  })

  test('adds the margin of the policy to the rate, and shows it among the rules', async () => {
    const payer = await aPayer(service, { rules: { conversionMarginPercent: 0 } })
    const { client, intent } = payer
    expect((await pay(payer, `${service.url}/simulate/mpp/other-currency?amountEuros=20`)).status).toBe(200)
    const [credential] = await credentialsOn(client, intent.id)
    expect(credential).toMatchObject({ amountEuros: 20, conversion: { marginPercent: 0 } })
    const { data } = await bodyOf(client.authorizations.list({ params: { id: String(credential?.cardId) } }))
    const params = { id: String(credential?.cardId), authorizationId: String(data[0]?.id) }
    const { rules } = await bodyOf(client.authorizations.explanation({ params }))
    expect(rules).toContainEqual({
      rule: 'conversionMarginPercent',
      outcome: 'pass',
      message: expect.stringMatching(
        /^\$ 23\.20 counts as € 20\.00: at 1\.1600 for one euro, the rate of 20\d\d-\d\d-\d\d, plus 0 %\.$/,
      ),
      remedy: null,
    })
  })

  test.each([
    'expired',
    'weak-key',
    'foreign-keys',
    'two-keys',
    'other-digest',
    'no-challenge',
    'other-methods',
    'free',
    'redirect',
  ])('sends no money to the merchant %s', async scenario => {
    const payer = await aPayer(service)
    const answer = await pay(payer, `${service.url}/simulate/mpp/${scenario}?amountEuros=20`)
    expect(answer.status).toBe(400)
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
  })

  test.each(['charged-and-failed', 'cut-off'])(
    'has paid the merchant %s, as the network says, although it was answered nothing good',
    async scenario => {
      const payer = await aPayer(service)
      const answer = await pay(payer, `${service.url}/simulate/mpp/${scenario}?amountEuros=20`)
      expect([502, 504]).toContain(answer.status)
      expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([{ status: 'consumed' }])
      expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
      await expectVerifiedLedger(payer.client)
    },
  )

  test.each(['forbidden', 'asks-again', 'price-raised', 'failed'])(
    'does not know whether it has paid the merchant %s: the money stays held',
    async scenario => {
      const payer = await aPayer(service)
      const answer = await pay(payer, `${service.url}/simulate/mpp/${scenario}?amountEuros=20`)
      expect(answer.status).toBe(502)
      expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([{ status: 'indeterminate' }])
    },
  )

  test.each(['no-receipt', 'forged-receipt', 'foreign-receipt', 'old-receipt'])(
    'has paid the merchant %s, and keeps no receipt',
    async scenario => {
      const payer = await aPayer(service)
      const answer = await pay(payer, `${service.url}/simulate/mpp/${scenario}?amountEuros=20`)
      expect(answer).toMatchObject({ status: 200, body: { receipt: null } })
    },
  )
})

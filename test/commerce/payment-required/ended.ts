import { describe, expect, test } from '@jest/globals'
import {
  ask,
  challengeOf,
  credentialFor,
  offeredIn,
  pay,
  present,
} from '../../support/commerce/machine-payer.ts'
import { sendEuros } from '../../support/commerce/requests.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService()
const { balance, client, create, get, settlements, urlOf } = await aPayee(service)

describe('a request that was paid by SEPA', () => {
  test('is a 409 with and without a credential', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url))
    await sendEuros(client, 12.5, request.reference)
    for (const answer of [await ask(url), await present(url, value), await present(url, 'Payment x')])
      expect(answer).toMatchObject({
        status: 409,
        challenges: [],
        body: { error: 'This has already been paid.' },
      })
    expect(await settlements(request.id)).toEqual([])
  })

  test('after a partial payment challenges for the rest, and refuses the earlier challenge', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const whole = credentialFor(await challengeOf(url))
    await sendEuros(client, 5, request.reference)
    const refused = await present(url, whole)
    expect(refused).toMatchObject({ status: 402, body: { title: 'Invalid Challenge' } })
    expect(refused.challenges.map(challenge => offeredIn(challenge).amount)).toEqual([750n])
    expect(await pay(url)).toMatchObject({ status: 200, body: { amountEuros: 7.5 } })
    expect(await get(request.id)).toMatchObject({ status: 'paid', paidEuros: 12.5, surplusEuros: 0 })
  })
})

describe('a request that can no longer be paid', () => {
  test('because it was cancelled is 410', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url))
    await bodyOf(client.collect.cancel({ params: { id: request.id }, body: {} }))
    for (const answer of [await ask(url), await present(url, value)])
      expect(answer).toMatchObject({ status: 410, challenges: [] })
  })

  test('because it has expired is 410, whether or not anybody has noticed', async () => {
    const request = await create({ expiresInHours: 1 })
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url))
    await service.sql(`update payment_requests set expires_at = now() - interval '1 second' where id = $1`, [
      request.id,
    ])
    for (const answer of [await ask(url), await present(url, value)])
      expect(answer).toMatchObject({ status: 410, challenges: [] })
    await client.sandbox.advance({ body: { days: 1 } })
    expect(await ask(url)).toMatchObject({ status: 410, challenges: [] })
  })
})

describe('a payment by card that is under way', () => {
  const late = { number: '4000000000000119' }

  test('keeps the request from being cancelled, and from expiring: it is in time, whenever it ends', async () => {
    const request = await create({ expiresInHours: 1 })
    const url = urlOf(request.id)
    expect(await pay(url, late)).toMatchObject({ status: 504 })
    expect(await client.collect.cancel({ params: { id: request.id }, body: {} })).toMatchObject({
      status: 409,
    })
    const before = await balance()
    await client.sandbox.advance({ body: { days: 1 } })
    expect(await get(request.id)).toMatchObject({
      status: 'paid',
      paidBy: 'card',
      paidEuros: 12.5,
      surplusEuros: 0,
    })
    expect(await balance()).toBe(before + 12.5)
  })

  test('stays in the wallet, marked, where SEPA was quicker', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url), late)
    const before = await balance()
    expect(await present(url, value)).toMatchObject({ status: 504 })
    await sendEuros(client, 12.5, request.reference)
    expect(await get(request.id)).toMatchObject({ status: 'paid', paidBy: 'sepa' })
    await client.sandbox.advance({ body: { minutes: 1 } })
    expect(await get(request.id)).toMatchObject({
      status: 'paid',
      paidBy: 'sepa',
      paidEuros: 12.5,
      surplusEuros: 12.5,
    })
    expect(await balance()).toBe(before + 25)
    expect(await present(url, value)).toMatchObject({ status: 200 })
    await expectVerifiedLedger(client)
  })

  test('lets SEPA stay in the wallet, marked, where the card was quicker', async () => {
    const request = await create()
    const before = await balance()
    expect(await pay(urlOf(request.id))).toMatchObject({ status: 200 })
    await sendEuros(client, 12.5, request.reference)
    expect(await get(request.id)).toMatchObject({
      status: 'paid',
      paidBy: 'card',
      paidEuros: 12.5,
      surplusEuros: 12.5,
    })
    expect(await balance()).toBe(before + 25)
  })
})

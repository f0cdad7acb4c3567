import { describe, expect, test } from '@jest/globals'
import { challengeOf, credentialFor, pay, present } from '../../support/commerce/machine-payer.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService()
const { balance, client, create, get, settlements, urlOf } = await aPayee(service)
const advance = (by: { minutes?: number; days?: number }) => client.sandbox.advance({ body: by })

/** Pays with a token for which the acquirer does not answer. */
async function silent(number: string) {
  const request = await create()
  const url = urlOf(request.id)
  const challenge = await challengeOf(url)
  const value = credentialFor(challenge, { number })
  const first = await present(url, value)
  expect(first).toMatchObject({ status: 504, challenges: [], receipt: undefined })
  return { request, url, value, challenge }
}

describe('an acquirer that is silent', () => {
  test('is asked again until it reports the charge', async () => {
    const { request, url, value, challenge } = await silent('4000000000000119')
    expect(await settlements(request.id)).toMatchObject([{ status: 'charging', receipt: null }])
    const same = await present(url, value)
    expect(same).toMatchObject({ status: 409, challenges: [] })
    expect(same.headers.get('x-error-code')).toBe('payment_under_way')
    expect((await present(url, credentialFor(challenge))).headers.get('x-error-code')).toBe('challenge_used')
    const another = await pay(url)
    expect(another.headers.get('x-error-code')).toBe('payment_under_way')
    const before = await balance()
    await advance({ minutes: 1 })
    expect(await present(url, value)).toMatchObject({ status: 200, receipt: { challengeId: challenge.id } })
    expect(await balance()).toBe(before + 12.5)
    expect(await settlements(request.id)).toMatchObject([{ status: 'paid', dueAt: null }])
    await expectVerifiedLedger(client)
  })

  test('may report a decline: the request is open again', async () => {
    const { request, url, value } = await silent('4000000000000341')
    const before = await balance()
    await advance({ minutes: 1 })
    expect(await present(url, value)).toMatchObject({ status: 402, body: { title: 'Verification Failed' } })
    expect(await get(request.id)).toMatchObject({ status: 'open' })
    expect(await balance()).toBe(before)
    expect(await pay(url)).toMatchObject({ status: 200 })
  })

  test('is asked again after an unreadable answer', async () => {
    const { url, value } = await silent('4000000000000101')
    await advance({ minutes: 1 })
    expect(await present(url, value)).toMatchObject({ status: 200 })
  })

  test('is asked ever less often, without end, if it never answers', async () => {
    const { request, url, value } = await silent('4000000000000127')
    const dueIn = async () => {
      const [settlement] = await settlements(request.id)
      const { now } = (await client.sandbox.clock()).body ?? { now: '' }
      return Math.round((Date.parse(String(settlement?.dueAt)) - Date.parse(now)) / 60_000)
    }
    expect(await dueIn()).toBe(1)
    await advance({ minutes: 2 })
    expect(await dueIn()).toBe(4)
    await advance({ days: 2 })
    expect(await dueIn()).toBeLessThanOrEqual(60)
    expect(await dueIn()).toBeGreaterThanOrEqual(0)
    expect(await present(url, value)).toMatchObject({ status: 409 })
    expect(await settlements(request.id)).toMatchObject([{ status: 'charging' }])
  })
})

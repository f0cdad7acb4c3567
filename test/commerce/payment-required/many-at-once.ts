import { describe, expect, test } from '@jest/globals'
import { challengeOf, credentialFor, present } from '../../support/commerce/machine-payer.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService()
const { balance, client, create, get, settlements, urlOf } = await aPayee(service)
const another = await service.another()

const statuses = (answers: readonly { status: number }[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('a hundred at once', () => {
  test('of the same credential, at two processes, are one charge', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url))
    const elsewhere = url.replace(service.url, another)
    const before = await balance()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => present(n % 2 ? url : elsewhere, value)),
    )
    const good = answers.filter(({ status }) => status === 200)
    expect(good.length).toBeGreaterThan(0)
    expect(new Set(good.map(({ text }) => text)).size).toBe(1)
    expect(Object.keys(statuses(answers)).every(status => ['200', '402', '409'].includes(status))).toBe(true)
    expect(await settlements(request.id)).toHaveLength(1)
    expect(await balance()).toBe(before + 12.5)
    expect(await present(url, value)).toMatchObject({ status: 200, text: good[0]?.text })
    await expectVerifiedLedger(client)
  })

  test('of different payers pay a request once', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const before = await balance()
    const values = await Promise.all(
      Array.from({ length: 40 }, async () => credentialFor(await challengeOf(url))),
    )
    const counts = statuses(await Promise.all(values.map(value => present(url, value))))
    expect(counts[200]).toBe(1)
    expect(counts[409]).toBe(39)
    expect(await balance()).toBe(before + 12.5)
    expect(await get(request.id)).toMatchObject({ status: 'paid', paidEuros: 12.5, surplusEuros: 0 })
  })
})

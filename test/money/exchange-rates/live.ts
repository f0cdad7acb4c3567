import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ecbRates } from '../../../src/adapters/exchange-rates/ecb.ts'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { refreshRates } from '../../../src/money/exchange-rates/index.ts'
import { addCalendarDays, bankDateOf } from '../../../src/values/bank-calendar.ts'
import { clientAt } from '../../support/client.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anIndividual, aSubmission, liveKey } from '../../support/identity/kyc.ts'
import { referenceRatesFile } from '../../support/money/reference-rates.ts'
import { until } from '../../support/until.ts'

/** Answers of the bank, the last one for good. */
const answers: { status: number; text: string }[] = []
const bank = createServer((_, response) => {
  const { status, text } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 404, text: '' }
  requests.push(status)
  response.writeHead(status).end(text)
})
const requests: number[] = []
await new Promise<void>(resolve => bank.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise(resolve => bank.close(resolve)))

const today = bankDateOf(new Date())
const env = {
  KYC_PROVIDER: 'none',
  SEPA_RAIL: 'files',
  EXCHANGE_RATES_URL: `http://127.0.0.1:${(bank.address() as AddressInfo).port}/eurofxref-daily.xml`,
  OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32',
}
const service = await startTestService({ env })

/** As the schedule does. */
const source = ecbRates(
  env.EXCHANGE_RATES_URL,
  guardedHttp({ allow: [env.OUTBOUND_ALLOW_CIDRS] }),
  () => undefined,
)
const refresh = () => refreshRates({ sql: service.sql as Sql, systems: { exchangeRates: () => source } })

describe('the rates of live mode', () => {
  let key!: string
  beforeAll(async () => {
    const { client } = await anIndividual(service)
    await aSubmission(client)
    key = String((await bodyOf(liveKey(client))).key)
  })

  test('are fetched once a day, and refused once they are older than four days', async () => {
    const live = service.client(key)
    answers.splice(0, 1, { status: 503, text: 'Later' })
    await expect(refresh()).rejects.toThrow('The ECB answered 503.')
    expect((await live.exchangeRates.get()).code).toBe('rates_outdated')
    await until('the request that found none has them fetched', () => requests.length === 2)

    const yesterday = addCalendarDays(today, -1)
    answers.splice(0, 1, { status: 200, text: referenceRatesFile(yesterday, { USD: '1.16', GBP: '0.88' }) })
    await refresh()
    expect(await bodyOf(live.exchangeRates.get())).toMatchObject({
      source: 'ecb',
      date: yesterday,
      rates: [
        { currency: 'GBP', rate: '0.88' },
        { currency: 'USD', rate: '1.16' },
      ],
    })

    answers.splice(0, 1, { status: 200, text: referenceRatesFile(addCalendarDays(today), { USD: '9' }) })
    await expect(refresh()).rejects.toThrow('in the future')
    expect((await bodyOf(live.exchangeRates.get())).date).toBe(yesterday)

    answers.splice(0, 1, { status: 200, text: referenceRatesFile(today, { USD: '1.17' }) })
    await refresh()
    const before = requests.length
    await refresh()
    expect(requests).toHaveLength(before)
    expect(await bodyOf(live.exchangeRates.get())).toMatchObject({
      date: today,
      rates: [{ currency: 'USD', rate: '1.17' }],
    })

    await service.sql('update exchange_rates set date = date - 4')
    expect((await bodyOf(live.exchangeRates.get())).date).toBe(addCalendarDays(today, -4))
    await service.sql('update exchange_rates set date = date - 1')
    expect((await live.exchangeRates.get()).code).toBe('rates_outdated')
    expect(requests).toHaveLength(before)
  })

  test('are fetched by the request that finds them older than a day, without a schedule', async () => {
    const live = clientAt({ url: await service.another(), token: key })
    const dayOfRates = async () => (await bodyOf(live.exchangeRates.get())).date
    answers.splice(0, 1, { status: 200, text: referenceRatesFile(today, { USD: '1.17' }) })
    await service.sql('delete from exchange_rates')
    const before = requests.length
    const daysAgo = (days: number) => addCalendarDays(today, -days)
    await service.sql(
      `insert into exchange_rates (date, currency, rate, fetched_at) values ($1, 'USD', 1.15, now())`,
      [daysAgo(1)],
    )
    expect(await dayOfRates()).toBe(daysAgo(1))
    expect(requests).toHaveLength(before)
    await service.sql('update exchange_rates set date = $1', [daysAgo(2)])
    expect(await dayOfRates()).toBe(daysAgo(2))
    await until('those of today are there', async () => (await dayOfRates()) === today)
    expect(requests).toHaveLength(before + 1)
  })
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { startRateRefresh } from '../../../src/app/background.ts'
import { openService } from '../../../src/app/service.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { addCalendarDays, bankDateOf } from '../../../src/values/bank-calendar.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anIndividual, aSubmission, liveKey } from '../../support/identity/kyc.ts'
import { referenceRatesFile } from '../../support/money/reference-rates.ts'
import { IN_GERMANY } from '../../support/services/open.ts'
import { secretSettings } from '../../support/services/settings.ts'

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

/** One round of the relay's refresh. */
async function refresh(): Promise<void> {
  const settings = {
    ...readSettings({ ...IN_GERMANY, ...env, LOG_LEVEL: 'silent' }),
    ...secretSettings,
    databaseUrl: service.databaseUrl,
  }
  const { runtime, stop } = await openService({ settings, shared: true })
  await startRateRefresh(runtime).stop()
  await stop()
}

describe('the rates of live mode', () => {
  test('are fetched once a day, and refused once they are older than four days', async () => {
    const { client } = await anIndividual(service)
    await aSubmission(client)
    const live = service.client(String((await bodyOf(liveKey(client))).key))
    expect((await live.exchangeRates.get()).code).toBe('rates_outdated')

    answers.push({ status: 503, text: 'Later' })
    await refresh()
    expect((await live.exchangeRates.get()).status).toBe(503)

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
    await refresh()
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
  })
})

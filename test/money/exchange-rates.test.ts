import { expect, test } from '@jest/globals'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { anIndividual, aSubmission, liveKey, settle } from '../support/identity/kyc.ts'
import './exchange-rates/files.ts'
import './exchange-rates/live.ts'

const service = await startTestService()

test('test mode has fixed rates, of the account’s own day', async () => {
  const { client } = await service.owner()
  const { source, date, rates } = await bodyOf(client.exchangeRates.get())
  expect(source).toBe('sandbox')
  expect(rates).toContainEqual({ currency: 'USD', rate: '1.1600' })
  expect(rates.map(({ currency }) => currency)).toEqual(rates.map(({ currency }) => currency).toSorted())
  await bodyOf(client.sandbox.advance({ body: { days: 10 } }))
  const later = await bodyOf(client.exchangeRates.get())
  expect(Date.parse(later.date) - Date.parse(date)).toBe(10 * 86_400_000)
})

test('live mode without a real rail has the fixed rates, too', async () => {
  const { client } = await anIndividual(service)
  await aSubmission(client)
  await settle(client)
  const live = service.client(String((await bodyOf(liveKey(client))).key))
  expect(await bodyOf(live.exchangeRates.get())).toMatchObject({
    source: 'sandbox',
    rates: expect.arrayContaining([{ currency: 'USD', rate: '1.1600' }]),
  })
})

import { afterAll, expect, test } from '@jest/globals'
import { sandboxRates } from '../../../src/adapters/exchange-rates/sandbox.ts'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import { areas } from '../../../src/areas.ts'
import { payMerchant } from '../../../src/commerce/mpp/story.ts'
import { activitiesOf } from '../../support/activities.ts'
import { processorWith } from '../../support/cards/reveal.ts'
import { demand, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, pay } from '../../support/commerce/payers.ts'
import { openEngine } from '../../support/engine.ts'
import { anIntent } from '../../support/factories.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

const workers = [1, 2, 3].map(() => openEngine(areas, service.databaseUrl))
for (const { runtime } of workers)
  Object.assign(runtime.ports.systems, {
    ...processorWith({}),
    outbound: guardedHttp({ allow: ['127.0.0.1'] }),
    exchangeRates: () => sandboxRates(),
  })
afterAll(() => Promise.all(workers.map(worker => worker.close())))

const STARTS = 1_000
const AT_ONCE = 40
const PAYMENTS = 25

test('of 1,000 doubtful starts of their runs, in three processes, one mints and one sends each payment', async () => {
  const payer = await aPayer(service)
  const paths = Array.from({ length: PAYMENTS }, (_, n) => `/doubtful-${n}`)
  const refs = await Promise.all(
    paths.map(async path => {
      const intent = await anIntent(payer.client, payer.agent.id, { merchant: '127.0.0.1', amountEuros: 20 })
      const later = { headers: { prefer: 'respond-async' } }
      const { body } = await pay({ ...payer, intent }, merchant.sells(path, demand()), {}, later)
      const { id } = body as unknown as { id: string }
      return { id, ownerId: payer.owner.ownerId, mode: 'test' } as const
    }),
  )
  let begun = 0
  const goOn = async (): Promise<void> => {
    while (begun < STARTS) {
      const n = begun++
      const [ref, worker] = [refs[n % refs.length], workers[n % workers.length]]
      if (!ref || !worker) throw new Error('no payment, or no worker')
      const run = activitiesOf(worker.runtime)({ requestIdOf: () => `workflow:mpp/${ref.id}` })
      const { next } = await run.readMachinePayment(ref)
      await payMerchant(ref, next, run)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, goOn))
  expect(paths.map(path => merchant.visits(path).length)).toEqual(paths.map(() => 2))
  expect(paths.map(path => merchant.payments(path).length)).toEqual(paths.map(() => 1))
  const ids = refs.map(({ id }) => id)
  const rows = await service.sql('select status from mpp_credentials where id = any($1)', [ids])
  expect(rows).toEqual(paths.map(() => ({ status: 'consumed' })))
})

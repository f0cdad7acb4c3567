import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import { areas } from '../../../src/areas.ts'
import type { OutboundHttp } from '../../../src/ports/outbound.ts'
import { activitiesOf } from '../../support/activities.ts'
import { answerWith, type Conduct, demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { openEngine } from '../../support/engine.ts'
import { type FlakyProxy, flakyProxy } from '../../support/flaky-proxy.ts'
import { DASHBOARD_SECRET, startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

let proxy!: FlakyProxy
let isAway = false

const guarded = guardedHttp({ allow: ['127.0.0.1'] })
/** The database is unavailable while a merchant is paid, or only asked, so that its answer cannot be recorded. */
let awayWhile: 'paid' | 'asked' | 'never' = 'paid'
const outbound: OutboundHttp = {
  ...guarded,
  async send(request) {
    const answer = await guarded.send(request)
    const isPaid = Object.values(request.headers ?? {}).some(value => value.startsWith('Payment '))
    if (awayWhile === (isPaid ? 'paid' : 'asked')) {
      isAway = true
      await proxy.close()
    }
    return answer
  },
}

async function comeBack(): Promise<void> {
  if (!isAway) return
  isAway = false
  await proxy.open()
}

const service = await startTestService({
  outbound,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' },
  async through(url) {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})
const merchant = await startMerchant()
/** The run's worker, which reaches the database. */
const worker = openEngine(areas, service.databaseUrl)
const run = activitiesOf(worker.runtime)({ requestIdOf: ({ id }) => `workflow:mpp/${id}` })
afterAll(() => worker.close())
afterEach(comeBack)

const SAID = 'Their support has told us'

type RunStep = 'leaveOutcomeOpen' | { readonly resolves: 'paid' | 'not_paid' }

async function runDoes(payer: Payer, step: RunStep): Promise<void> {
  const { ownerId } = payer.owner
  const tenant = { ownerId, mode: 'test' } as const
  const [credential] = await service.sql<{ id: string }>(
    `update mpp_credentials set due_at = created_at where owner_id = $1 returning id`,
    [ownerId],
  )
  const id = String(credential?.id)
  if (step === 'leaveOutcomeOpen') return void (await run.leaveOutcomeOpen({ id, ...tenant }))
  const actor = { type: 'operator', id: 'Ada', tenant, agentId: null, scopes: new Set<never>() } as const
  const body = { outcome: step.resolves, comment: SAID }
  const { status } = await worker.run(tenant, 'mpp.resolve', { params: { id }, body }, { actor })
  expect(status).toBe(200)
}

const kept = async (): Promise<string | undefined> => {
  const headers = { 'x-dashboard-secret': DASHBOARD_SECRET }
  return /^answers_kept (\d+)$/m.exec((await service.http('GET', '/metrics', { headers })).text)?.[1]
}

/** Delays the recording of an answer until the run has taken these steps. */
async function paidLate(path: string, gives: Conduct, steps: readonly RunStep[]) {
  const payer = await aPayer(service)
  const asked = pay(payer, merchant.sells(path, demand(), gives))
  await until('the answer is kept', async () => (await kept()) === '1')
  for (const step of steps) await runDoes(payer, step)
  await comeBack()
  const answer = await asked
  await until('none is kept', async () => (await kept()) === '0')
  const [credential] = await credentialsOn(payer.client, payer.intent.id)
  const events = await service.sql<{ event: string }>(
    `select event from events where owner_id = $1 and event ~ '^mpp.(credential|transaction)' order by id`,
    [payer.owner.ownerId],
  )
  await expectVerifiedLedger(payer.client)
  expect(merchant.payments(path)).toHaveLength(1)
  return { payer, answer, credential, events: events.map(({ event }) => event.replace('mpp.', '')) }
}

const OPEN = ['credential.minted', 'credential.indeterminate']

describe('a merchant’s answer that is kept while the database is away', () => {
  test('pays once what the run has left open', async () => {
    const { answer, credential, events } = await paidLate('/left-open', sell(), ['leaveOutcomeOpen'])
    expect(answer).toMatchObject({ status: 200, body: { merchant_body: { report: 42 } } })
    expect(credential).toMatchObject({ status: 'consumed', outcomeBy: 'merchant', note: null })
    expect(events).toEqual([...OPEN, 'credential.consumed', 'transaction.completed'])
  })

  test.each([
    ['2xx', '/paid-first', sell()],
    ['500', '/paid-first-fails', answerWith(500)],
  ])('changes nothing by %s where the run has recorded first that it is paid', async (_, path, gives) => {
    const steps = ['leaveOutcomeOpen', { resolves: 'paid' }] as const
    const { payer, credential, events } = await paidLate(path, gives, steps)
    expect(credential).toMatchObject({ status: 'consumed', outcomeBy: 'operator', note: SAID })
    expect(events).toEqual([...OPEN, 'credential.consumed', 'transaction.completed'])
    expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
  })

  test.each([
    ['2xx', '/void-first', sell(), /recorded as not paid before/],
    ['500', '/void-first-fails', answerWith(500), SAID],
  ])(
    'moves no money by %s where the run has recorded first that it is not paid',
    async (_, path, gives, note) => {
      const steps = ['leaveOutcomeOpen', { resolves: 'not_paid' }] as const
      const { payer, credential, events } = await paidLate(path, gives, steps)
      expect(credential).toMatchObject({ status: 'void', outcomeBy: 'operator', transactionId: null })
      expect(credential?.note).toMatch(note)
      expect(events).toEqual([...OPEN, 'credential.void'])
      expect(await intentOf(payer)).toMatchObject({ status: 'approved', transactionId: null })
      expect(await balanceOf(payer)).toMatchObject({ heldEuros: 20 })
    },
  )
})

describe('a merchant’s offer that is kept while the database is away', () => {
  afterEach(() => {
    awayWhile = 'paid'
  })

  test('is not paid after its request was left: the payment ends, and its intent can be paid again', async () => {
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    awayWhile = 'asked'
    const url = merchant.sells('/offered-late', demand())
    expect(await pay(payer, url)).toMatchObject({ status: 503, code: 'outcome_unknown' })
    await comeBack()
    await until('it has ended', async () => {
      const [credential] = await credentialsOn(payer.client, payer.intent.id)
      return credential?.status === 'void'
    })
    expect(merchant.payments('/offered-late')).toEqual([])
    expect(await balanceOf(payer)).toEqual(before)
    awayWhile = 'never'
    expect(await pay(payer, url)).toMatchObject({ status: 200 })
    expect(merchant.payments('/offered-late')).toHaveLength(1)
    await expectVerifiedLedger(payer.client)
  })
})

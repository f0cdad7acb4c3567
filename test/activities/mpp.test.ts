import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { sandboxRates } from '../../src/adapters/exchange-rates/sandbox.ts'
import { guardedHttp } from '../../src/adapters/guarded-http/guarded-http.ts'
import { areas } from '../../src/areas.ts'
import type { CarriedPayment } from '../../src/commerce/mpp/index.ts'
import { ProcessLeases } from '../../src/kernel/database/process-lease.ts'
import type { ProcessorCall, ProcessorCallDone, ProcessorFailure } from '../../src/ports/card-processor.ts'
import { activitiesOf, pausedPastItsClaim } from '../support/activities.ts'
import { sandboxWith } from '../support/cards/sandbox.ts'
import { answerWith, demand, startMerchant } from '../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, pay } from '../support/commerce/payers.ts'
import { revokeTokens, withdrawals } from '../support/commerce/withdrawals.ts'
import { openEngine } from '../support/engine.ts'
import { bodyOf } from '../support/factories.ts'
import { type FlakyProxy, flakyProxy } from '../support/flaky-proxy.ts'
import { ENCRYPTION_KEY, startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'

type Answer = ProcessorCallDone | ProcessorFailure

const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const merchant = await startMerchant()

/** The run's worker, whose processor is at hand. */
const proxy: FlakyProxy = await flakyProxy(service.databaseUrl)
const worker = openEngine(areas, proxy.url)
afterAll(() => worker.close())

const calls: string[] = []
let isAway = false
let answer: () => Answer | Promise<Answer>
const setNetworkToken = (_: string, state: string, { reference }: ProcessorCall) => {
  calls.push(`${state} ${reference}`)
  return answer()
}
Object.assign(worker.runtime.ports.systems, { cardProcessor: () => ({ setNetworkToken }) })
const run = activitiesOf(worker.runtime)({ requestIdOf: ({ id }) => `workflow:mpp/${id}` })

beforeEach(() => {
  calls.length = 0
  answer = () => ({ done: true })
})
afterEach(async () => {
  if (isAway) await proxy.open()
  isAway = false
})

/** A payment that an owner has recorded as not paid: its token must be deleted. */
async function anUnpaid(path: string) {
  const payer = await aPayer(service)
  await pay(payer, merchant.sells(path, demand(), answerWith(500)))
  const [credential] = await credentialsOn(payer.client, payer.intent.id)
  const { id = '' } = credential ?? {}
  await bodyOf(payer.client.mpp.resolve({ params: { id }, body: { outcome: 'not_paid' } }))
  const ref = { id, ownerId: payer.owner.ownerId, mode: 'test' } as const
  return {
    ref,
    async seen() {
      const [token] = (await bodyOf(payer.client.agentCredentials.list({}))).data
      const [{ dueAt } = { dueAt: undefined }] = await credentialsOn(payer.client, payer.intent.id)
      return { isDue: dueAt !== null, problem: token?.processorProblem }
    },
    /** As if the minute of the claim were over. */
    async aMinuteLater() {
      await service.sql('update mpp_credentials set due_at = created_at where id = $1', [id])
    },
  }
}

const OPEN = { isDue: true, problem: expect.stringContaining('not been notified') }
const DELETED = { isDue: false, problem: null }

describe('the deletion of a token that did not pay', () => {
  test('asks the processor once, and nothing more when it is repeated', async () => {
    const { ref, seen } = await anUnpaid('/deleted')
    expect(await run.deleteNetworkToken(ref)).toMatchObject({ status: 'void', closed: true })
    expect(await run.deleteNetworkToken(ref)).toMatchObject({ closed: true })
    expect(calls).toEqual([`deleted ${ref.id}-deleted`])
    expect(await seen()).toEqual(DELETED)
  })

  test('is claimed for a minute: two at the same time, or one after a silent processor, ask once', async () => {
    const { ref, seen, aMinuteLater } = await anUnpaid('/silent')
    answer = () => ({ failure: 'late' })
    const both = await Promise.all([run.deleteNetworkToken(ref), run.deleteNetworkToken(ref)])
    for (const { closed, dueInMs } of both) {
      expect(closed).toBe(false)
      expect(dueInMs).toBeGreaterThan(30_000)
    }
    expect(calls).toHaveLength(1)
    expect(await seen()).toEqual(OPEN)
    await aMinuteLater()
    answer = () => ({ done: true })
    expect(await run.deleteNetworkToken(ref)).toMatchObject({ closed: true })
    expect(await seen()).toEqual(DELETED)
  })

  test('is recorded once the database is back, where it was away when the processor answered', async () => {
    const { ref, seen } = await anUnpaid('/away')
    answer = async () => {
      isAway = true
      await proxy.close()
      return { done: true }
    }
    const deleting = run.deleteNetworkToken(ref)
    await until('the answer is kept', () => worker.runtime.unrecordedAnswers.count === 1)
    expect(await seen()).toEqual(OPEN)
    await proxy.open()
    isAway = false
    expect(await deleting).toMatchObject({ closed: true })
    expect(calls).toHaveLength(1)
    expect(await seen()).toEqual(DELETED)
  })

  test('asks nothing where the process was paused past its claim, and is asked for later', async () => {
    const { ref, seen, aMinuteLater } = await anUnpaid('/paused')
    const row = { table: 'mpp_credentials', id: ref.id }
    const refusal = await pausedPastItsClaim(worker.runtime, row, paused => paused.deleteNetworkToken(ref))
    expect(refusal).toMatchObject({ code: 'outcome_unknown' })
    expect(calls).toEqual([])
    expect(await seen()).toEqual(OPEN)
    await aMinuteLater()
    expect(await run.deleteNetworkToken(ref)).toMatchObject({ closed: true })
    expect(await seen()).toEqual(DELETED)
  })
})

describe('a payment whose process is paused past its claim before the credential leaves', () => {
  const payer = openEngine(areas, service.databaseUrl)
  afterAll(() => payer.close())
  Object.assign(payer.runtime.ports.systems, {
    cardProcessor: () => sandboxWith(ENCRYPTION_KEY),
    exchangeRates: () => sandboxRates(),
    outbound: guardedHttp({ allow: ['127.0.0.1'] }),
  })

  let paths = 0
  const minted = async (carried?: CarriedPayment) => {
    const paying = await aPayer(service)
    const before = await balanceOf(paying)
    const path = `/unsent-${++paths}`
    const url = merchant.sells(path, demand())
    const asked = await pay(paying, url, {}, { headers: { prefer: 'respond-async' } })
    const { id } = asked.body as unknown as { id: string }
    const ref = { id, ownerId: paying.owner.ownerId, mode: 'test', ...(carried && { carried }) } as const
    const steps = activitiesOf(payer.runtime)({ requestIdOf: () => `workflow:mpp/${id}` })
    expect(await steps.mintCredential(ref)).toBe('send')
    return {
      ...{ ref, path, paying, before },
      send: () => steps.sendCredential(ref),
      async expectUnpaid() {
        expect(merchant.payments(path)).toEqual([])
        expect(await credentialsOn(paying.client, paying.intent.id)).toMatchObject([{ status: 'void' }])
        expect(await balanceOf(paying)).toEqual(before)
        expect(await pay(paying, url)).toMatchObject({ status: 200 })
      },
    }
  }

  test('was never sent: it ends unpaid, and its intent can be paid again', async () => {
    const { ref, expectUnpaid } = await minted()
    const row = { table: 'mpp_credentials', id: ref.id }
    expect(await pausedPastItsClaim(payer.runtime, row, paused => paused.sendCredential(ref))).toBeUndefined()
    await expectUnpaid()
  })

  test('was never sent, either, where a request has begun it under its earlier claim', async () => {
    const carried: CarriedPayment = {}
    const { ref, expectUnpaid } = await minted(carried)
    const leases = new ProcessLeases(payer.runtime.database)
    const later = activitiesOf({ ...payer.runtime, lease: leases.of('calls') })({
      requestIdOf: ({ id }) => id,
    })
    expect(await later.sendCredential(ref)).toBe('none')
    expect(carried.answer).toBeUndefined()
    const [row] = await service.sql('select reason from mpp_payments where id = $1', [ref.id])
    expect(row).toEqual({ reason: 'interrupted' })
    await leases.end()
    await expectUnpaid()
  })

  describe('a credential that waits to be sent', () => {
    const aged = (id: string) =>
      service.sql(`update mpp_credentials set created_at = created_at - interval '6 seconds' where id = $1`, [
        id,
      ])

    test('is due until it is sent, so that another process goes on where its run is late', async () => {
      const { ref, path, paying } = await minted()
      const due = () =>
        service.sql('select due_at <= now() as "isDue" from mpp_payments where id = $1', [ref.id])
      expect(await due()).toEqual([{ isDue: true }])
      await bodyOf(paying.client.sandbox.advance({ body: { seconds: 1 } }))
      expect(merchant.payments(path)).toHaveLength(1)
      expect(await due()).toEqual([{ isDue: null }])
    })

    test('is sent as it was decided, however long ago, where nothing forbids it', async () => {
      const { ref, path, send } = await minted()
      await aged(ref.id)
      expect(await send()).toBe('none')
      expect(merchant.payments(path)).toHaveLength(1)
    })

    test.each(withdrawals)('is never sent if %s: %i %s', async (_what, _status, code, withdraw) => {
      const { ref, path, send, paying, before } = await minted()
      await aged(ref.id)
      await withdraw(paying)
      expect(await send()).toBe('none')
      expect(merchant.payments(path)).toEqual([])
      expect(await credentialsOn(paying.client, paying.intent.id)).toMatchObject([
        { status: 'void', sentAt: null },
      ])
      const payment = await bodyOf(paying.client.mpp.payment({ params: { id: ref.id } }))
      expect(payment).toMatchObject({ status: 'ended', reason: code })
      expect(await intentOf(paying)).toMatchObject({ status: 'approved' })
      expect(await balanceOf(paying)).toEqual(before)
      const [token] = (await bodyOf(paying.client.agentCredentials.list({}))).data
      expect(token).toMatchObject({ status: 'revoked' })
      expect(await send()).toBe('wait')
      expect(merchant.payments(path)).toEqual([])
    })

    test('is sent once or not at all if its token is revoked as several send it', async () => {
      const { ref, path, send, paying } = await minted()
      await aged(ref.id)
      await Promise.all([revokeTokens(paying), ...Array.from({ length: 6 }, send)])
      const [credential] = await credentialsOn(paying.client, paying.intent.id)
      const sent = merchant.payments(path).length
      expect([credential?.status, sent]).toEqual(sent === 1 ? ['consumed', 1] : ['void', 0])
    })
  })
})

describe('the deadline of a machine payment', () => {
  test('changes nothing before it, and nothing in another status', async () => {
    const { ref } = await anUnpaid('/over')
    for (const step of [run.leaveOutcomeOpen, run.endUnpaid])
      expect(await step(ref)).toMatchObject({ status: 'void', closed: false })
    const payer = await aPayer(service)
    await pay(payer, merchant.sells('/open', demand(), answerWith(500)))
    const [credential] = await credentialsOn(payer.client, payer.intent.id)
    const open = { id: String(credential?.id), ownerId: payer.owner.ownerId, mode: 'test' } as const
    for (const step of [run.leaveOutcomeOpen, run.endUnpaid, run.deleteNetworkToken])
      expect(await step(open)).toMatchObject({ status: 'indeterminate', closed: false })
    expect(calls).toEqual([])
  })
})

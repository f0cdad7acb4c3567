import { beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { areas } from '../../src/areas.ts'
import { submit } from '../../src/commerce/transfers/sepa/steps.ts'
import type { Payment } from '../../src/ports/sepa-rail.ts'
import { type Fault, recordingRail } from '../support/commerce/rail.ts'
import { attempt, once, type Scheme, transferSteps } from '../support/commerce/transfer-steps.ts'
import { startEngine } from '../support/engine.ts'

const engine = await startEngine(areas)
const rail = recordingRail()
const { sql, execute, activitiesWith, rowOf, endsRight, drive, aTransfer } = transferSteps(engine, rail)

Object.assign(engine.runtime.ports, {
  sepaRail: () => rail.rail,
  walletBank: { code: '99990001', bic: 'AGPYDEF0XXX' },
})

beforeEach(() => rail.mend())

/** € 777.05 is a payment of which the first answer cannot be used: it must be asked about. */
const ASKED_ABOUT = 777_05n

test('what its steps bring about is told under the id of the request behind it', async () => {
  const transfer = await aTransfer({})
  await drive(transfer)
  const { rows } = await engine.sql(
    `select request_id, count(*) filter (where actor_type = 'process')::int as steps from audit_entries
     where resource_id = $1 group by 1`,
    [transfer.id],
  )
  expect(rows).toEqual([{ request_id: 'test', steps: expect.any(Number) }])
  expect(rows[0].steps).toBeGreaterThan(0)
})

describe('whatever happens to a step', () => {
  const steps = ['verify', 'submit', 'inquire'] as const
  const methods = { verify: 'verifyPayee', submit: 'submit', inquire: 'statusOf' } as const
  // A worker that dies leaves the step undone, or done; one that dies once more finds the same as the first.
  const faulty = [
    ['the worker dies before', 1],
    ['the worker dies after', 1],
    ...(['the call is lost', 'the answer is lost', 'the answer is late'] as const).flatMap(what =>
      [1, 3].map(times => [what, times] as const),
    ),
  ] as const
  const table = (['sct', 'sct_inst'] as const).flatMap(scheme =>
    steps.flatMap(step => faulty.map(([what, times]) => [scheme, step, what, times] as const)),
  )
  const faults: Partial<Record<string, Fault>> = {
    'the call is lost': 'before',
    'the answer is lost': 'after',
    'the answer is late': 'late',
  }

  test.each(table)('of %s: %s, and %s %i times: it ends right', async (scheme, step, what, times) => {
    const transfer = await aTransfer({ scheme, ...(step === 'inquire' ? { cents: ASKED_ABOUT } : {}) })
    const fault = faults[what]
    if (fault) rail.break(methods[step], fault, times)
    const moment = what.endsWith('before') ? 'before' : 'after'
    await drive(transfer, fault ? undefined : once(`transfers.${step}`, moment, times))
    // An instant payment that never reached the rail in its time is given up, not sent again.
    const neverSent = scheme === 'sct_inst' && step === 'submit' && what === 'the call is lost'
    await endsRight(transfer, neverSent ? 'rejected' : 'completed')
    if (neverSent) expect((await rowOf(transfer)).reason?.code).toBe('TM01')
    if (scheme === 'sct_inst') expect(rail.count('submit', transfer.id)).toBe(1)
  })

  test.each(['sct', 'sct_inst'] as const)('%s: what was lost is visible until it is found', async scheme => {
    const transfer = await aTransfer({ scheme })
    rail.break('submit', 'after', 1)
    rail.break('statusOf', 'late')
    await drive(transfer)
    expect(await rowOf(transfer)).toMatchObject({ status: 'submitted', reason: { code: 'indeterminate' } })
    rail.mend()
    await drive(transfer)
    await endsRight(transfer, 'completed')
    expect(rail.count('submit', transfer.id)).toBe(1)
  })

  test.each(['sct', 'sct_inst'] as const)(
    '%s: a bank that forgets what it has told is not believed',
    async scheme => {
      const transfer = await aTransfer({ scheme, cents: 777_06n })
      await drive(transfer)
      rail.forget(transfer.id)
      await drive(transfer)
      expect(await rowOf(transfer)).toMatchObject({ status: 'submitted', reason: { code: 'indeterminate' } })
      expect([rail.count('submit', transfer.id), rail.taken(transfer.id)]).toEqual([1, 0])
    },
  )

  test('an instant payment is not handed over by a worker that wakes up when its time is over', async () => {
    const payment = { until: new Date() } as Payment
    const errand = { id: 'transfer_late', mode: 'test', asks: payment, byMs: Date.now() }
    expect(await submit.call(errand, { ports: engine.runtime.ports, requestId: 'r' })).toBe('late')
    expect(rail.count('submit', 'transfer_late')).toBe(0)
  })

  test.each(['before', 'after', 'late'] as const)('a recall, %s: it ends right', async fault => {
    const transfer = await aTransfer()
    await drive(transfer)
    await transfer.run('transfers.recall', { params: { id: transfer.id }, body: { reason: 'Twice' } })
    rail.break('recall', fault, 3)
    await drive(transfer)
    await endsRight(transfer, 'returned')
  })

  test('a recall that is never answered does not keep the payment from settling', async () => {
    const transfer = await aTransfer({ cents: 777_01n })
    const { verifyPayee, submitPayment } = activitiesWith(execute)
    await attempt(verifyPayee, transfer.input)
    await attempt(submitPayment, transfer.input)
    await transfer.run('transfers.recall', { params: { id: transfer.id }, body: { reason: 'Twice' } })
    rail.break('recall', 'before')
    await drive(transfer)
    expect((await rowOf(transfer)).status).toBe('completed')
    rail.mend()
    await drive(transfer)
    await endsRight(transfer, 'returned')
  })

  test('a lapse that is told twice, and before its time: it ends right', async () => {
    const transfer = await aTransfer({ name: 'No Match GmbH' })
    const { cancelUnconfirmed, verifyPayee } = activitiesWith(execute)
    await attempt(verifyPayee, transfer.input)
    await attempt(cancelUnconfirmed, transfer.input)
    expect((await rowOf(transfer)).status).toBe('verifying')
    await drive(transfer, once('transfers.lapse', 'after'))
    await endsRight(transfer, 'cancelled')
  })
})

describe('from two places at once', () => {
  test.each(['sct', 'sct_inst'] as const)('%s is submitted once', async scheme => {
    const transfer = await aTransfer({ scheme })
    await Promise.all(Array.from({ length: 4 }, () => drive(transfer)))
    await endsRight(transfer, 'completed')
    expect(rail.count('submit', transfer.id)).toBe(1)
  })

  test('cancelling against submitting: one of them counts', async () => {
    const ends = new Set<string>()
    for (let n = 0; n < 10; n++) {
      const transfer = await aTransfer()
      const { verifyPayee, submitPayment } = activitiesWith(execute)
      await attempt(verifyPayee, transfer.input)
      const cancelling = engine.run(transfer.tenant, 'transfers.cancel', {
        params: { id: transfer.id },
        body: { comment: null },
      })
      const [{ status }] = await Promise.all([cancelling, attempt(submitPayment, transfer.input)])
      const cancelled = status === 200
      await endsRight(transfer, cancelled ? 'cancelled' : 'completed')
      expect(rail.taken(transfer.id)).toBe(cancelled ? 0 : 1)
      ends.add(String(status))
    }
    expect(ends.size).toBeGreaterThan(0)
  })

  test('confirming against cancelling: it is paid or it is not', async () => {
    for (let n = 0; n < 5; n++) {
      const transfer = await aTransfer({ name: 'No Match GmbH' })
      await attempt(activitiesWith(execute).verifyPayee, transfer.input)
      const ask = (verb: string) =>
        engine.run(transfer.tenant, `transfers.${verb}`, {
          params: { id: transfer.id },
          body: { comment: null },
        })
      const [, cancelled] = await Promise.all([ask('confirmPayee'), ask('cancel')])
      expect(cancelled.status).toBe(200)
      await drive(transfer)
      await endsRight(transfer, 'cancelled')
      expect(rail.taken(transfer.id)).toBe(0)
    }
  })

  test('a notice against the answer of the submission: told once', async () => {
    const transfer = await aTransfer()
    const { id, tenant } = transfer
    const notice = { params: { id }, body: { notice: 'settled', reasonCode: null } }
    rail.meanwhile('submit', () => engine.run(tenant, 'transfers.noticed', notice))
    await drive(transfer)
    for (let count = 0; count < 2; count++)
      expect(await transfer.run('transfers.noticed', notice)).toEqual({ acted: false })
    await endsRight(transfer, 'completed')
    const told = await sql(
      `select 1 from events where event = 'transfer.completed' and data ->> 'transferId' = $1`,
      [id],
    )
    expect(told).toHaveLength(1)
  })

  test('an answer that comes when everything is over changes nothing', async () => {
    const transfer = await aTransfer()
    const { id, tenant } = transfer
    rail.meanwhile('submit', () =>
      engine.run(tenant, 'transfers.noticed', {
        params: { id },
        body: { notice: 'returned', reasonCode: 'AC04' },
      }),
    )
    await drive(transfer)
    await endsRight(transfer, 'returned', false)
  })
})

describe('faults of every kind at every moment', () => {
  const moment = fc.constantFrom('before', 'after', undefined, undefined, undefined)
  const fault = fc.constantFrom<Fault | undefined>('before', 'after', 'late', undefined, undefined)
  const seeds = fc.record({
    scheme: fc.constantFrom('sct', 'sct_inst'),
    cents: fc.constantFrom(12_50n, 666_01n, 777_03n, 777_04n, ASKED_ABOUT),
    kills: fc.array(moment, { maxLength: 12 }),
    lost: fc.record({ verifyPayee: fault, submit: fault, statusOf: fault }),
    times: fc.integer({ min: 1, max: 4 }),
  })

  test('never pay twice, and lose no cent', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async ({ scheme, cents, kills, lost, times }) => {
        rail.mend()
        for (const [method, kind] of Object.entries(lost))
          if (kind) rail.break(method as 'submit', kind, times)
        const transfer = await aTransfer({ scheme: scheme as Scheme, cents })
        const left = [...kills]
        const status = await drive(transfer, () => left.shift())
        expect(['completed', 'rejected']).toContain(status)
        await endsRight(transfer, status)
        if (scheme === 'sct_inst') expect(rail.count('submit', transfer.id)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 40 },
    )
  })
})

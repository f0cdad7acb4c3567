import { beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { areas } from '../../src/areas.ts'
import { submitInTime } from '../../src/commerce/transfers/index.ts'
import { endOverdueRecords } from '../../src/kernel/background/deadlines.ts'
import { moveClockOffset } from '../../src/kernel/database/tenant-clock.ts'
import { createExecutor } from '../../src/kernel/run/execute.ts'
import { NoTurn, SystemTurns } from '../../src/kernel/run/system-turns.ts'
import type { SepaPayment } from '../../src/ports/sepa-rail.ts'
import { activitiesOf } from '../support/activities.ts'
import { type Fault, recordingRail } from '../support/commerce/rail.ts'
import { diesAt, runActivity, type Scheme, transferSteps } from '../support/commerce/transfer-steps.ts'
import { startEngine } from '../support/engine.ts'

const engine = await startEngine(areas)
const rail = recordingRail()
const { sql, activities, rowOf, expectEnd, drive, aTransfer } = transferSteps(engine, rail)
const { verifyPayee, submitPayment, cancelUnconfirmed, askRail } = activities

Object.assign(engine.runtime.ports.systems, { sepaRail: () => rail.rail })

beforeEach(() => rail.restore())

/** The sandbox's answer to this amount cannot be read, so the payment must be inquired about. */
const ASKED_ABOUT = 777_05n

test('the audit entries of a transfer’s steps carry the id of the request that created it', async () => {
  const transfer = await aTransfer({})
  await drive(transfer)
  const { rows } = await engine.sql(
    `select request_id, count(*) filter (where actor_type = 'process')::int as steps from events
     where resource_id = $1 group by 1`,
    [transfer.id],
  )
  expect(rows).toEqual([{ request_id: 'test', steps: expect.any(Number) }])
  expect(rows[0].steps).toBeGreaterThan(0)
})

describe('a faulty step', () => {
  const steps = ['verifyPayee', 'submitPayment', 'askRail'] as const
  const methods = { verifyPayee: 'verifyPayee', submitPayment: 'submit', askRail: 'statusOf' } as const
  // A dying worker leaves the step undone or done; dying twice leads to no third case.
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

  test.each(table)(
    'by %s in %s, where %s %i times, still ends in the right state',
    async (scheme, step, what, times) => {
      const transfer = await aTransfer({ scheme, ...(step === 'askRail' ? { cents: ASKED_ABOUT } : {}) })
      const fault = faults[what]
      if (fault) rail.break(methods[step], fault, times)
      const moment = what.endsWith('before') ? 'before' : 'after'
      await drive(transfer, fault ? undefined : diesAt(step, moment, times))
      // An instant payment that did not reach the rail in time is rejected, not submitted again.
      const neverSent = scheme === 'sct_inst' && step === 'submitPayment' && what === 'the call is lost'
      await expectEnd(transfer, neverSent ? 'rejected' : 'completed')
      if (neverSent) expect((await rowOf(transfer)).reason?.code).toBe('TM01')
      if (scheme === 'sct_inst') expect(rail.count('submit', transfer.id)).toBe(1)
    },
  )

  test.each(['sct', 'sct_inst'] as const)(
    'by %s leaves the transfer visibly indeterminate until its payment is found',
    async scheme => {
      const transfer = await aTransfer({ scheme })
      rail.break('submit', 'after', 1)
      rail.break('statusOf', 'late')
      await drive(transfer)
      expect(await rowOf(transfer)).toMatchObject({ status: 'submitted', reason: { code: 'indeterminate' } })
      rail.restore()
      await drive(transfer)
      await expectEnd(transfer, 'completed')
      expect(rail.count('submit', transfer.id)).toBe(1)
    },
  )

  test.each(['sct', 'sct_inst'] as const)(
    'by %s does not fail the transfer when the bank forgets a payment that it had confirmed',
    async scheme => {
      const transfer = await aTransfer({ scheme, cents: 777_06n })
      await drive(transfer)
      rail.forget(transfer.id)
      await drive(transfer)
      expect(await rowOf(transfer)).toMatchObject({ status: 'submitted', reason: { code: 'indeterminate' } })
      expect([rail.count('submit', transfer.id), rail.acceptedCount(transfer.id)]).toEqual([1, 0])
    },
  )

  test('that begins too late does not submit an instant payment', async () => {
    const payment = { until: new Date() } as SepaPayment
    const call = { reference: 'transfer_late', requestId: 'r' }
    expect(await submitInTime(rail.rail, { payment, call, byMs: Date.now() })).toBe('late')
    expect(rail.count('submit', 'transfer_late')).toBe(0)
  })

  test.each(['before', 'after', 'late'] as const)(
    'that recalls a payment, with the fault “%s”, still ends in the right state',
    async fault => {
      const transfer = await aTransfer()
      await drive(transfer)
      await transfer.run('transfers.recall', { params: { id: transfer.id }, body: { reason: 'Twice' } })
      rail.break('recall', fault, 3)
      await drive(transfer)
      await expectEnd(transfer, 'returned')
    },
  )

  test('that gets no answer to a recall does not keep the payment from settling', async () => {
    const transfer = await aTransfer({ cents: 777_01n })
    await runActivity(verifyPayee, transfer.input)
    await runActivity(submitPayment, transfer.input)
    await transfer.run('transfers.recall', { params: { id: transfer.id }, body: { reason: 'Twice' } })
    rail.break('recall', 'before')
    await drive(transfer)
    expect((await rowOf(transfer)).status).toBe('completed')
    rail.restore()
    await drive(transfer)
    await expectEnd(transfer, 'returned')
  })

  test('that cancels an unconfirmed transfer twice, and too early, still ends in the right state', async () => {
    const transfer = await aTransfer({ name: 'No Match GmbH' })
    await runActivity(verifyPayee, transfer.input)
    await runActivity(cancelUnconfirmed, transfer.input)
    expect((await rowOf(transfer)).status).toBe('verifying')
    await drive(transfer, diesAt('cancelUnconfirmed', 'after'))
    await expectEnd(transfer, 'cancelled')
  })
})

describe('concurrent steps', () => {
  test.each(['sct', 'sct_inst'] as const)('submit a payment by %s once', async scheme => {
    const transfer = await aTransfer({ scheme })
    await runActivity(verifyPayee, transfer.input)
    await Promise.all(Array.from({ length: 4 }, () => runActivity(submitPayment, transfer.input)))
    // A drive moves the clock while it waits: an instant payment that another one submits meanwhile would be too late.
    await drive(transfer)
    await expectEnd(transfer, 'completed')
    expect(rail.count('submit', transfer.id)).toBe(1)
  })

  test('let either cancelling or submitting take effect, never both', async () => {
    const ends = new Set<string>()
    for (let n = 0; n < 10; n++) {
      const transfer = await aTransfer()
      await runActivity(verifyPayee, transfer.input)
      const cancelling = engine.run(transfer.tenant, 'transfers.cancel', {
        params: { id: transfer.id },
        body: { comment: null },
      })
      const [{ status }] = await Promise.all([cancelling, runActivity(submitPayment, transfer.input)])
      const cancelled = status === 200
      await expectEnd(transfer, cancelled ? 'cancelled' : 'completed')
      expect(rail.acceptedCount(transfer.id)).toBe(cancelled ? 0 : 1)
      ends.add(String(status))
    }
    expect(ends.size).toBeGreaterThan(0)
  })

  test('let a cancelled transfer stay unpaid while it is confirmed', async () => {
    for (let n = 0; n < 5; n++) {
      const transfer = await aTransfer({ name: 'No Match GmbH' })
      await runActivity(verifyPayee, transfer.input)
      const ask = (verb: string) =>
        engine.run(transfer.tenant, `transfers.${verb}`, {
          params: { id: transfer.id },
          body: { comment: null },
        })
      const [, cancelled] = await Promise.all([ask('confirmPayee'), ask('cancel')])
      expect(cancelled.status).toBe(200)
      await drive(transfer)
      await expectEnd(transfer, 'cancelled')
      expect(rail.acceptedCount(transfer.id)).toBe(0)
    }
  })

  test('do not reject an instant payment that is recalled on its way to the rail', async () => {
    const transfer = await aTransfer({ scheme: 'sct_inst', cents: 888_03n })
    const recall = { params: { id: transfer.id }, body: { reason: 'Twice' } }
    rail.meanwhile('submit', async () => {
      rail.forget(transfer.id)
      await transfer.run('transfers.recall', recall)
      await runActivity(askRail, transfer.input)
    })
    await runActivity(verifyPayee, transfer.input)
    await runActivity(submitPayment, transfer.input)
    expect((await rowOf(transfer)).status).toBe('completed')
    expect(await transfer.run('ledger.verify')).toMatchObject({ ok: true, problems: [] })
  })

  test('record a settlement once when a notice overtakes the answer to the submission', async () => {
    const transfer = await aTransfer()
    const { id, tenant } = transfer
    const notice = { body: { transferId: id } }
    rail.meanwhile('submit', () => engine.run(tenant, 'transfers.simulateSettle', notice))
    await drive(transfer)
    for (let count = 0; count < 2; count++)
      expect(await transfer.run('transfers.simulateSettle', notice)).toMatchObject({ status: 'completed' })
    await expectEnd(transfer, 'completed')
    const completions = await sql(
      `select 1 from events where event = 'transfer.completed' and data ->> 'transferId' = $1`,
      [id],
    )
    expect(completions).toHaveLength(1)
  })

  test('ignore an answer that comes after the transfer has ended', async () => {
    const transfer = await aTransfer()
    const { id, tenant } = transfer
    rail.meanwhile('submit', () =>
      engine.run(tenant, 'transfers.simulateReturn', { body: { transferId: id, reasonCode: 'AC04' } }),
    )
    await drive(transfer)
    await expectEnd(transfer, 'returned', false)
  })
})

describe('random faults at random moments', () => {
  const moment = fc.constantFrom('before', 'after', undefined, undefined, undefined)
  const fault = fc.constantFrom<Fault | undefined>('before', 'after', 'late', undefined, undefined)
  const seeds = fc.record({
    scheme: fc.constantFrom('sct', 'sct_inst'),
    cents: fc.constantFrom(12_50n, 666_01n, 777_03n, 777_04n, ASKED_ABOUT),
    kills: fc.array(moment, { maxLength: 12 }),
    lost: fc.record({ verifyPayee: fault, submit: fault, statusOf: fault }),
    times: fc.integer({ min: 1, max: 4 }),
  })

  test('never pay twice and lose no cent', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async ({ scheme, cents, kills, lost, times }) => {
        rail.restore()
        for (const [method, kind] of Object.entries(lost))
          if (kind) rail.break(method as 'submit', kind, times)
        const transfer = await aTransfer({ scheme: scheme as Scheme, cents })
        const remainingKills = [...kills]
        const status = await drive(transfer, () => remainingKills.shift())
        expect(['completed', 'rejected']).toContain(status)
        await expectEnd(transfer, status)
        if (scheme === 'sct_inst') expect(rail.count('submit', transfer.id)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 40 },
    )
  })
})

describe('the sweep in place of a late run', () => {
  async function rescuesOf(ids: readonly string[], turns = new SystemTurns()): Promise<string[]> {
    const rescues: string[] = []
    await endOverdueRecords({
      database: engine.runtime.database,
      areas,
      execute: createExecutor(engine.runtime),
      activities: activitiesOf(engine.runtime),
      rescueAfterMs: 30_000,
      onRescue: ({ id, operation }) => void (ids.includes(id) && rescues.push(operation)),
      turns,
    })
    return rescues
  }

  const makeLate = (ids: readonly string[]) =>
    engine.sql(
      `update transfers set due_at = now() - interval '31 seconds', updated_at = now() - interval '31 seconds'
       where id = any($1)`,
      [ids],
    )

  test('takes all steps of a transfer, and counts each once', async () => {
    const transfer = await aTransfer()
    await makeLate([transfer.id])
    expect(await rescuesOf([transfer.id])).toEqual(['transfers.verify', 'transfers.submit'])
    await expectEnd(transfer, 'completed')
  })

  test('counts no rescue while calls of the owner to the bank wait for their turns', async () => {
    const [waiting, other] = [await aTransfer(), await aTransfer()]
    const { promise, resolve } = Promise.withResolvers<void>()
    const turns = new SystemTurns()
    const called = { system: 'sepaRail', owner: waiting.tenant.ownerId, mode: 'test' } as const
    // Four are under way and fifty wait, so that the last one is refused.
    const begun = Array.from({ length: 54 }, () => turns.run(called, () => promise))
    await expect(turns.run(called, () => promise)).rejects.toThrow(NoTurn)
    await makeLate([waiting.id, other.id])
    expect(await rescuesOf([waiting.id], turns)).toEqual([])
    expect((await rowOf(waiting)).status).toBe('completed')
    resolve()
    await Promise.all(begun)
  })
})

describe('the question for the payee’s bank', () => {
  test('is asked by one worker at a time', async () => {
    const transfer = await aTransfer()
    const other = () => runActivity(verifyPayee, transfer.input)
    const states: unknown[] = []
    rail.meanwhile('verifyPayee', async () => states.push(await other()))
    expect(await other()).toMatchObject({ payee: 'accepted' })
    expect(states).toEqual([expect.objectContaining({ payee: 'unverified' })])
    expect(rail.count('verifyPayee', transfer.id)).toBe(1)
  })

  test('is asked again once its answer counts as lost', async () => {
    const transfer = await aTransfer()
    rail.break('verifyPayee', 'after', 1)
    await expect(runActivity(verifyPayee, transfer.input)).rejects.toThrow('the line died')
    const state = await runActivity(verifyPayee, transfer.input)
    expect(state).toMatchObject({ payee: 'unverified' })
    expect(rail.count('verifyPayee', transfer.id)).toBe(1)
    await moveClockOffset(sql, transfer.tenant, Number(state.dueInMs))
    expect(await runActivity(verifyPayee, transfer.input)).toMatchObject({ payee: 'accepted' })
    await drive(transfer)
    await expectEnd(transfer, 'completed')
  })
})

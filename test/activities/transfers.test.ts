import { beforeEach, describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import fc from 'fast-check'
import { runner } from '../../activities/support.ts'
import { type TransferActivities, transferActivities } from '../../activities/transfers.ts'
import { areas } from '../../src/areas.ts'
import { submit } from '../../src/commerce/transfers/steps.ts'
import { registered } from '../../src/kernel/area.ts'
import { causeOf } from '../../src/kernel/cause.ts'
import { type Sql, sqlOn } from '../../src/kernel/database.ts'
import { type Execute, executor } from '../../src/kernel/execute.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { ProcessInput } from '../../src/kernel/process.ts'
import type { Payment } from '../../src/kernel/sepa-rail.ts'
import { moveOffset, offsetOf } from '../../src/kernel/tenant-clock.ts'
import { startEngine } from '../support/engine.ts'
import { type Fault, recordingRail } from '../support/rail.ts'

const engine = await startEngine(areas)
const sql: Sql = sqlOn(engine.house.database.pool)
const execute = executor(engine.house)
const rail = recordingRail()
Object.assign(engine.house.ports, {
  sepaRail: () => rail.rail,
  walletBank: { code: '99990001', bic: 'AGPYDEF0XXX' },
})

beforeEach(() => rail.mend())

interface Row {
  readonly status: string
  readonly reason: { readonly code: string } | null
}

async function anOwner() {
  const tenant = { ownerId: newId('customer'), mode: 'test' } as const
  await sql(
    `insert into customers (id, created_at, updated_at, name, email, type, country, plan, status, kyc_status)
     values ($1, now(), now(), 'Ada', 'ada@example.com', 'business', 'DE', 'business', 'active', 'none')`,
    [tenant.ownerId],
  )
  const run = async (key: string, input: Parameters<typeof engine.run>[2] = {}) => {
    const { body, status } = await engine.run(tenant, key, input)
    if (status >= 300) throw new Error(`${key}: ${body}`)
    return JSON.parse(String(body))
  }
  return { tenant, run }
}

type Scheme = 'sct' | 'sct_inst'

/** A transfer out of a wallet that has twice as much. */
async function aTransfer({ scheme = 'sct' as Scheme, cents = 12_50n, name = 'Müller' } = {}) {
  const { tenant, run } = await anOwner()
  const wallet = await run('wallets.create', { body: { name: 'Purse', parentWalletId: null, metadata: {} } })
  await run('fund.wallet', { params: { id: wallet.id }, body: { amountEuros: 2n * cents } })
  const iban = 'DE89370400440532013000'
  const payee = await run('beneficiaries.create', { body: { name, iban, bic: null, email: null } })
  const body = {
    fromWalletId: wallet.id,
    beneficiaryId: payee.id,
    amountEuros: cents,
    scheme,
    reference: null,
  }
  const { id } = await run('transfers.create', { body })
  const input: ProcessInput = { ...tenant, id, agentId: null }
  return { id, input, tenant, run, wallet, cents }
}

type Transfer = Awaited<ReturnType<typeof aTransfer>>

const rowOf = async ({ id }: Transfer): Promise<Row> =>
  (await engine.sql('select status, reason from transfers where id = $1', [id])).rows[0]

const activitiesWith = (by: Execute): TransferActivities =>
  transferActivities(
    runner({
      ...{ execute: by, operations: registered(areas), offsetOf: tenant => offsetOf(sql, tenant) },
      causeOf: (tenant, id) => causeOf(sql, tenant, id),
    }),
    { operatorSignals: false },
  )

/** It would say on the console what has been made to fail. */
const attempt = <T>(activity: (input: ProcessInput) => Promise<T>, input: ProcessInput): Promise<T> =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(activity, input)

/** Whether a worker dies at this call of an operation: before it has done anything, or before it could tell. */
type Killer = (operation: string) => 'before' | 'after' | undefined

const killedBy =
  (killer: Killer): Execute =>
  async call => {
    const moment = killer(call.operation.key)
    if (moment === 'before') throw new Error('the worker was killed')
    const outcome = await execute(call)
    if (moment === 'after') throw new Error('the worker was killed')
    return outcome
  }

const stepOf = {
  verify: 'verifyPayee',
  submit: 'submitTransfer',
  inquire: 'askRail',
  lapse: 'letTransferLapse',
} as const

/** As its run does: looks, waits by moving the clock, acts; what fails is tried again. */
async function drive({ input, tenant }: Transfer, killer: Killer = () => undefined): Promise<string> {
  const activities = activitiesWith(killedBy(killer))
  for (let round = 0; round < 40; round++) {
    const seen = await attempt(activitiesWith(execute).lookAtTransfer, input)
    if (seen.closed || !seen.next) return seen.status
    if (Number(seen.dueInMs) > 0)
      await moveOffset(sql, tenant, (await offsetOf(sql, tenant)) + Number(seen.dueInMs) + 1)
    await attempt(activities[stepOf[seen.next]], input).catch(() => undefined)
  }
  return 'in vain'
}

/** No cent is lost or made, and the rail has what it should have, once. */
async function endsRight(transfer: Transfer, status: string, paid = status === 'completed'): Promise<void> {
  const { id, run, wallet, cents } = transfer
  expect((await rowOf(transfer)).status).toBe(status)
  expect(await run('ledger.verify')).toMatchObject({ ok: true, problems: [] })
  const { availableEuros, heldEuros } = await run('wallets.get', { params: { id: wallet.id } })
  expect([availableEuros, heldEuros]).toEqual([Number(paid ? cents : 2n * cents) / 100, 0])
  expect(rail.taken(id)).toBeLessThanOrEqual(1)
  if (paid) expect(rail.taken(id)).toBe(1)
}

const once = (operation: string, moment: 'before' | 'after', times = 1): Killer => {
  let left = times
  return key => (key === operation && left-- > 0 ? moment : undefined)
}

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
  const table = (['sct', 'sct_inst'] as const).flatMap(scheme =>
    steps.flatMap(step =>
      (
        [
          'the worker dies before',
          'the worker dies after',
          'the call is lost',
          'the answer is lost',
          'the answer is late',
        ] as const
      ).flatMap(what => [1, 3].map(times => [scheme, step, what, times] as const)),
    ),
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
    expect(await submit.call(errand, { ports: engine.house.ports, requestId: 'r' })).toBe('late')
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
    const { verifyPayee, submitTransfer } = activitiesWith(execute)
    await attempt(verifyPayee, transfer.input)
    await attempt(submitTransfer, transfer.input)
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
    const { letTransferLapse, verifyPayee } = activitiesWith(execute)
    await attempt(verifyPayee, transfer.input)
    await attempt(letTransferLapse, transfer.input)
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
      const { verifyPayee, submitTransfer } = activitiesWith(execute)
      await attempt(verifyPayee, transfer.input)
      const cancelling = engine.run(transfer.tenant, 'transfers.cancel', {
        params: { id: transfer.id },
        body: { comment: null },
      })
      const [{ status }] = await Promise.all([cancelling, attempt(submitTransfer, transfer.input)])
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

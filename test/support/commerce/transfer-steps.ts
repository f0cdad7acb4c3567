import { expect } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import type { TransferActivities } from '../../../activities/transfers.ts'
import type { ProcessInput } from '../../../src/kernel/contract/process.ts'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { moveClockOffset, readClockOffset } from '../../../src/kernel/database/tenant-clock.ts'
import { newId } from '../../../src/values/ids.ts'
import { activitiesOf } from '../activities.ts'
import type { Engine } from '../engine.ts'
import type { RecordingRail } from './rail.ts'

interface Row {
  readonly status: string
  readonly reason: { readonly code: string } | null
}

export type Scheme = 'sct' | 'sct_inst'
interface TransferOptions {
  readonly scheme?: Scheme
  readonly cents?: bigint
  readonly name?: string
}

async function anOwner(engine: Engine) {
  const tenant = { ownerId: newId('customer'), mode: 'test' } as const
  await engine.sql(
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

async function aTransferOn(
  engine: Engine,
  { scheme = 'sct', cents = 12_50n, name = 'Müller' }: TransferOptions,
) {
  const { tenant, run } = await anOwner(engine)
  const wallet = await run('wallets.create', {
    body: { name: 'Purse', parentWalletId: null, metadata: {} },
  })
  await run('fund.wallet', { params: { id: wallet.id }, body: { amountCents: 2n * cents } })
  const iban = 'DE89370400440532013000'
  const payee = await run('beneficiaries.create', { body: { name, iban, bic: null, email: null } })
  const body = {
    fromWalletId: wallet.id,
    beneficiaryId: payee.id,
    amountCents: cents,
    scheme,
    reference: null,
  }
  const { id } = await run('transfers.create', { body })
  const input: ProcessInput = { ...tenant, id, agentId: null }
  return { id, input, tenant, run, wallet, cents }
}

type Transfer = Awaited<ReturnType<typeof aTransferOn>>

/** Runs an activity and logs errors only; otherwise it would print the failures that a test causes. */
export const runActivity = <T>(
  activity: (input: ProcessInput) => Promise<T>,
  input: ProcessInput,
): Promise<T> => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(activity, input)

type Step = Exclude<keyof TransferActivities, 'readTransfer' | 'decideTransfer'>
type State = Awaited<ReturnType<TransferActivities['readTransfer']>>

/** Whether the worker dies at this activity: before it acts, or after it acted and before it answers. */
type Killer = (step: Step) => 'before' | 'after' | undefined

export const diesAt = (step: Step, moment: 'before' | 'after', times = 1): Killer => {
  let remaining = times
  return name => (name === step && remaining-- > 0 ? moment : undefined)
}

/** As `workflows/transfer.ts` decides. */
function stepOf({ isSubmitted, payee }: State): Step {
  if (isSubmitted) return 'askRail'
  if (payee === 'unverified') return 'verifyPayee'
  return payee === 'doubtful' ? 'cancelUnconfirmed' : 'submitPayment'
}

/** Transfers and the steps of their runs; a worker may die at each of them. */
export function transferSteps(engine: Engine, rail: RecordingRail) {
  const sql: Sql = sqlOn(engine.runtime.database.pool)
  const activities = activitiesOf(engine.runtime)({ requestIdOf: ({ id }) => `workflow of ${id}` })

  const aTransfer = (options: TransferOptions = {}) => aTransferOn(engine, options)

  const rowOf = async ({ id }: Transfer): Promise<Row> =>
    (await engine.sql('select status, reason from transfers where id = $1', [id])).rows[0]

  async function takeStep(
    step: Step,
    input: ProcessInput,
    killer: Killer = () => undefined,
  ): Promise<State | undefined> {
    const moment = killer(step)
    const state = moment === 'before' ? undefined : await runActivity(activities[step], input)
    if (moment) throw new Error('the worker was killed')
    return state
  }

  /** Acts as the run does: reads the status, waits by advancing the clock, takes the step, and retries failures. */
  async function drive({ input, tenant }: Transfer, killer: Killer = () => undefined): Promise<string> {
    for (let round = 0; round < 40; round++) {
      const state = await runActivity(activities.readTransfer, input)
      if (state.closed) return state.status
      if (Number(state.dueInMs) > 0)
        await moveClockOffset(sql, tenant, (await readClockOffset(sql, tenant)) + Number(state.dueInMs) + 1)
      await takeStep(stepOf(state), input, killer).catch(() => undefined)
    }
    return 'in vain'
  }

  async function expectEnd(transfer: Transfer, status: string, paid = status === 'completed'): Promise<void> {
    const { id, run, wallet, cents } = transfer
    expect((await rowOf(transfer)).status).toBe(status)
    expect(await run('ledger.verify')).toMatchObject({ ok: true, problems: [] })
    const { availableEuros, heldEuros } = await run('wallets.get', { params: { id: wallet.id } })
    expect([availableEuros, heldEuros]).toEqual([Number(paid ? cents : 2n * cents) / 100, 0])
    expect(rail.acceptedCount(id)).toBeLessThanOrEqual(1)
    if (paid) expect(rail.acceptedCount(id)).toBe(1)
  }

  return { sql, activities, aTransfer, rowOf, takeStep, drive, expectEnd }
}

import { idempotencyLockName } from '../../../../src/kernel/journal/idempotency.ts'
import { withConnection } from '../../../support/rows.ts'
import { startSampleService } from '../../../support/sample-service.ts'
import { until } from '../../../support/until.ts'

/** The external system of these files: it answers as the running test says, and records each call. */
let answerCall: (round: number) => Promise<string>
export const calls: string[] = []
export const service = await startSampleService({
  callSystem: (inquiryId, round) => {
    calls.push(inquiryId)
    return answerCall(round)
  },
})
export const owner = await service.owner()

export function answerCalls(answer: typeof answerCall): void {
  answerCall = answer
}

let endPendingCall = (): void => undefined

export function beginAnew(): void {
  answerCall = async () => 'confirmed'
  calls.splice(0)
}

export const endCalls = (): void => endPendingCall()

export const ask = (sampleId: string, idempotencyKey?: string, client = owner.client) =>
  client.samples.inquire({ params: { id: sampleId }, ...(idempotencyKey ? { idempotencyKey } : {}) })

/** From now on a call waits until the test answers it or makes it fail. */
export function holdCalls() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  answerCall = () => promise
  endPendingCall = () => resolve('the test is over')
  return { answer: resolve, fail: () => reject(new Error('connection reset')) }
}

export const called = (count: number) => until(`${count} calls`, () => calls.length >= count)

export const states = async (sampleId: string) =>
  (await service.sql('select state from inquiries where sample_id = $1 order by id', [sampleId])).map(
    ({ state }) => state,
  )

export const age = (key: string, interval: string) =>
  service.sql('update idempotency_keys set created_at = created_at - $2::interval where key = $1', [
    key,
    interval,
  ])

export const openTransactions = () =>
  service.sql(
    `select query from pg_stat_activity
     where datname = current_database() and state like 'idle in transaction%'`,
  )

export const advisoryLocks = () =>
  service.sql(
    `select from pg_locks join pg_database d on d.oid = database
     where locktype = 'advisory' and datname = current_database()`,
  )

/** Does `work` while another transaction has the key, until a transaction of the service waits for it. */
export const whileKeyIsHeld = (key: string, work: () => void): Promise<void> =>
  withConnection(service.databaseUrl, async client => {
    const { ownerId } = owner
    const held = { ownerId, mode: 'test', agentId: '', operation: 'samples.inquire', key }
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [idempotencyLockName(held)])
    work()
    await until('one waits for the key', async () => (await advisoryLocks()).length > 1)
  })

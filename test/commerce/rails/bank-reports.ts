import { beforeEach, describe, expect, test } from '@jest/globals'
import { countLateFiles } from '../../../src/commerce/rails/index.ts'
import { endOverdueRecords } from '../../../src/kernel/background/deadlines.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { bankFiles } from '../../support/money/bank-files.ts'
import { bookingOf, camt } from '../../support/money/camt.ts'
import { pain002 } from '../../support/money/pain002.ts'

const {
  service,
  worker,
  live,
  other,
  get,
  aSubmitted,
  aDueTransfer,
  closeFiles,
  cutOff,
  lastFile,
  filesOf,
  receiveFile,
  sweep,
  proveLedgers,
} = await bankFiles()

beforeEach(cutOff)

const listed = async (report: 'awaited' | 'late' | 'received') =>
  (await bodyOf(service.dash.rails.files({ query: { mode: 'live', report } }))).data.map(({ id }) => id)

/** A file that was handed over with one payment. */
async function aFile() {
  const payment = await aSubmitted()
  await cutOff()
  return { payment, file: await lastFile() }
}

const fileNow = async (id: string) =>
  (await bodyOf(service.dash.rails.files({ query: { mode: 'live' } }))).data.find(file => file.id === id)

const dueAt = async (id: string) =>
  (await service.sql<{ due: Date | null }>('select due_at as due from sepa_files where id = $1', [id]))[0]
    ?.due

async function passReportTime(id: string): Promise<void> {
  const late = `clock_timestamp() - interval '1 second'`
  await service.sql(`update sepa_files set due_at = ${late}, report_due_at = ${late} where id = $1`, [id])
}

const eventsOf = async (id: string) =>
  (
    await service.sql<{ event: string }>('select event from events where resource_id = $1 order by id', [id])
  ).map(({ event }) => event)

const doubtful = async (by = service.dash) =>
  (await bodyOf(by.doubtfulMoney.list({ query: { kind: 'sepa_file', mode: 'live', limit: 100 } }))).data

const lateFiles = () => countLateFiles(sqlOn(worker.database.pool))

describe('the bank’s report on a file', () => {
  test('is awaited after the hand-over, and ends the wait', async () => {
    const { file } = await aFile()
    expect(file).toMatchObject({ report: 'awaited', reportedAt: null })
    expect(Date.parse(String(file.reportDueAt))).toBeGreaterThanOrEqual(
      Date.parse(String(file.handedOverAt)) + 4 * 3_600_000,
    )
    expect(await listed('awaited')).toContain(file.id)
    expect((await doubtful()).find(({ id }) => id === file.id)).toMatchObject({
      ...{ kind: 'sepa_file', since: file.handedOverAt, amountEuros: file.totalEuros },
      workflowId: `sepa-file/${file.id}`,
      verbs: [{ verb: 'report', by: 'operator', call: 'POST /rails/sepa', isUpdate: false }],
    })
    expect(await doubtful(live)).toEqual([])
    await bodyOf(receiveFile(pain002({ to: file.messageId, group: '<GrpSts>ACTC</GrpSts>' })))
    expect(await fileNow(file.id)).toMatchObject({
      status: 'handed_over',
      report: 'received',
      reportedAt: expect.any(String),
    })
    expect([await listed('awaited'), await dueAt(file.id)]).toEqual([
      expect.not.arrayContaining([file.id]),
      null,
    ])
    expect((await doubtful()).map(({ id }) => id)).not.toContain(file.id)
  })

  test('is late once, listed and counted until it comes', async () => {
    const { file } = await aFile()
    await sweep()
    expect([await listed('late'), await lateFiles()]).toEqual([[], 0])
    await passReportTime(file.id)
    await Promise.all([sweep(), sweep()])
    await times(2, () => sweep())
    expect(await fileNow(file.id)).toMatchObject({ status: 'handed_over', report: 'late' })
    expect([await listed('late'), await lateFiles()]).toEqual([[file.id], 1])
    expect((await doubtful()).map(({ id, since }) => [id, since])).toContainEqual([
      file.id,
      file.handedOverAt,
    ])
    expect((await eventsOf(file.id)).filter(event => event === 'sepa.report_late')).toHaveLength(1)
    await bodyOf(receiveFile(pain002({ to: file.messageId })))
    expect(await fileNow(file.id)).toMatchObject({ report: 'received' })
    expect([await listed('late'), await lateFiles()]).toEqual([[], 0])
  })

  test('is still to come after a report about the payees alone, whose notices are taken at once', async () => {
    const { payment, file } = await aFile()
    const vop = pain002({
      to: file.messageId,
      group: '<GrpSts>RVCM</GrpSts>',
      payments: [[payment.endToEndId, 'RVNM']],
    })
    await bodyOf(receiveFile(vop))
    await sweep()
    expect(await get(payment.id)).toMatchObject({ status: 'submitted', payeeCheck: { result: 'no_match' } })
    expect(await fileNow(file.id)).toMatchObject({ report: 'awaited' })
    expect(await dueAt(file.id)).toEqual(new Date(String(file.reportDueAt)))
    await passReportTime(file.id)
    await sweep()
    expect(await listed('late')).toEqual([file.id])
    await bodyOf(receiveFile(pain002({ to: file.messageId })))
  })

  test('brings the money of a rejected payment back, also in a later report, and each once', async () => {
    const [first, second] = [await aSubmitted(), await aSubmitted(other)]
    await cutOff()
    const { messageId } = await lastFile()
    const reject = (endToEndId: string) =>
      receiveFile(pain002({ to: messageId, payments: [[endToEndId, 'RJCT', 'AC04']] }))
    await bodyOf(reject(first.endToEndId))
    await Promise.all([sweep(), sweep()])
    expect(await get(first.id)).toMatchObject({ status: 'rejected', reason: { code: 'AC04' } })
    expect((await get(second.id, other)).status).toBe('submitted')
    await bodyOf(reject(first.endToEndId))
    await bodyOf(reject(second.endToEndId))
    await times(2, () => sweep())
    expect((await get(second.id, other)).status).toBe('rejected')
    const told = await service.sql(
      `select transfer_id from sepa_notices where status = 'told' and transfer_id = any($1)`,
      [[first.id, second.id]],
    )
    expect(told).toHaveLength(3)
    await proveLedgers()
  })

  test('whose notice cannot be taken holds up no other notice, and is tried again', async () => {
    const [first, second] = [await aSubmitted(), await aSubmitted()]
    await cutOff()
    const { id, messageId } = await lastFile()
    await service.sql(`
      create function refuse_notice() returns trigger language plpgsql as $$
      begin if new.transfer_id = '${first.id}' then raise exception 'a defect'; end if; return new; end $$;
      create trigger refuse before update on sepa_notices for each row execute function refuse_notice()`)
    const both = [first, second].map(({ endToEndId }) => [endToEndId, 'RJCT', 'AC04'] as const)
    await bodyOf(receiveFile(pain002({ to: messageId, payments: both })))
    await expect(sweep()).rejects.toThrow()
    expect([(await get(first.id)).status, (await get(second.id)).status]).toEqual(['submitted', 'rejected'])
    expect(await dueAt(id)).toBeInstanceOf(Date)
    await service.sql('drop trigger refuse on sepa_notices')
    await sweep()
    expect([(await get(first.id)).status, await dueAt(id)]).toEqual(['rejected', null])
  })

  test('is not needed any more once the bank has booked a payment of the file', async () => {
    const { payment, file } = await aFile()
    await passReportTime(file.id)
    await sweep()
    const amount = Number(payment.amountEuros).toFixed(2)
    await bodyOf(receiveFile(camt([bookingOf(payment.endToEndId, amount)])))
    expect(await fileNow(file.id)).toMatchObject({ report: 'received' })
    await sweep()
    expect((await get(payment.id)).status).toBe('completed')
  })

  test('counts if the bank is faster than the record of the hand-over', async () => {
    const payment = await aSubmitted()
    await closeFiles()
    await service.sql(`
      create function refuse_released() returns trigger language plpgsql as $$
      begin if new.status = 'handed_over' then raise exception 'the worker was killed'; end if; return new; end $$;
      create trigger refuse before update on sepa_files for each row execute function refuse_released()`)
    await expect(sweep()).rejects.toThrow()
    const [staged] = await service.sql<{ messageId: string }>(
      `select message_id as "messageId" from sepa_files where status = 'staged'`,
    )
    const rejected = [[payment.endToEndId, 'RJCT', 'AC04']] as const
    await bodyOf(receiveFile(pain002({ to: String(staged?.messageId), payments: rejected })))
    await service.sql('drop trigger refuse on sepa_files')
    await service.sql(`update sepa_files set due_at = now() where status = 'staged'`)
    await times(2, () => sweep())
    const file = await lastFile()
    expect(file).toMatchObject({ messageId: staged?.messageId, report: 'received', reportDueAt: null })
    expect([(await get(payment.id)).status, await dueAt(file.id)]).toEqual(['rejected', null])
  })

  test('is awaited neither about an instant payment nor about a file without payments', async () => {
    const instant = await aDueTransfer(live, { scheme: 'sct_inst' })
    await times(2, () => sweep())
    const file = await lastFile()
    expect(file).toMatchObject({ scheme: 'sct_inst', report: null, reportDueAt: null })
    expect(await dueAt(file.id)).toBeNull()
    const rejected = [[String(instant.endToEndId), 'RJCT', 'AC04']] as const
    await bodyOf(receiveFile(pain002({ to: file.messageId, payments: rejected })))
    await sweep()
    expect((await get(instant.id)).status).toBe('rejected')
    const empty = await bodyOf(
      service.dash.rails.files({ query: { mode: 'live', status: 'empty', limit: 1 } }),
    )
    for (const { id, report } of empty.data) expect([report, await dueAt(id)]).toEqual([null, null])
  })
})

describe('a file without Temporal', () => {
  test('leaves in one round of the sweep, once it is thirty seconds late', async () => {
    const payment = await aSubmitted()
    const rescued: string[] = []
    const round = () =>
      endOverdueRecords({
        ...worker,
        rescueAfterMs: 30_000,
        onRescue: ({ operation }) => rescued.push(operation),
      })
    const close = (seconds: number) =>
      service.sql(
        `update sepa_files set closes_at = now() - $1 * interval '1 second', due_at = now() - $1 * interval '1 second',
           updated_at = now() - interval '1 hour' where status = 'open'`,
        [seconds],
      )
    await close(10)
    await round()
    expect(await filesOf(payment.endToEndId)).toEqual([])
    await close(31)
    await round()
    expect(await filesOf(payment.endToEndId)).toHaveLength(1)
    expect(rescued.filter(operation => operation.startsWith('rails.'))).toEqual([
      'rails.make',
      'rails.stage',
      'rails.release',
    ])
  })
})

import './rails/assigned-debits.ts'
import './rails/assignment-races.ts'
import './rails/bank-reports.ts'
import './rails/rails-answers.ts'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { tenantOperationRunner } from '../../src/app/ports.ts'
import { readInbox } from '../../src/app/sepa-inbox.ts'
import { sepaQueue } from '../../src/app/sepa-queue.ts'
import { elementsAt, parseXml, textAt } from '../../src/iso20022/xml-reader.ts'
import { endOverdueRecords, type Rescue } from '../../src/kernel/background/deadlines.ts'
import type { ApiCall } from '../../src/kernel/contract/call.ts'
import type { ActivityCaller, BindActivities } from '../../src/kernel/contract/step.ts'
import { isBankDay } from '../../src/values/bank-calendar.ts'
import { addMs, minutes } from '../../src/values/clock.ts'
import { newId } from '../../src/values/ids.ts'
import { cents } from '../../src/values/money.ts'
import { times } from '../support/at-once.ts'
import { bodyOf } from '../support/factories.ts'
import { bankFiles } from '../support/money/bank-files.ts'
import { ACCOUNT, bookingOf, camt, returnedBooking } from '../support/money/camt.ts'
import { pain002 } from '../support/money/pain002.ts'
import { withConnection } from '../support/rows.ts'
import { sweepAtOnce } from '../support/sweep.ts'
import { until } from '../support/until.ts'

const {
  makeDue,
  sandboxWorker,
  service,
  closeFiles,
  aDueTransfer,
  proveLedgers,
  receiveFile,
  sweep,
  worker,
  inbox,
  filesOf,
  lastFile,
  cutOff,
  get,
  other,
  live,
  owners,
  aSubmitted,
  out,
} = await bankFiles()

beforeEach(cutOff)

describe('payments by files', () => {
  test('wait for their cut-off, leave in one file, settle by the statement and come back by a return', async () => {
    const before = readdirSync(out).length
    const [first, second] = [
      await aSubmitted(live, { amountEuros: 12.34 }),
      await aSubmitted(other, { amountEuros: 1000 }),
    ]
    expect(await get(first.id)).toMatchObject({ payeeCheck: { result: 'not_possible' }, reason: null })
    expect(readdirSync(out).length).toBe(before)
    await cutOff()
    const file = await lastFile()
    expect(file).toMatchObject({ payments: 2, totalEuros: 1012.34, scheme: 'sct' })
    const [name, ...others] = await filesOf(first.endToEndId)
    expect([name, others]).toEqual([`sct-${file.executeOn}-${file.messageId}.xml`, []])
    const content = readFileSync(join(out, String(name)), 'utf8')
    expect(createHash('sha256').update(content).digest('hex')).toBe(file.sha256)
    const part = elementsAt(parseXml(content), 'CstmrCdtTrfInitn/PmtInf')[0]
    expect(part && [textAt(part, 'CtrlSum'), textAt(part, 'DbtrAcct/Id/IBAN')]).toEqual(['1012.34', ACCOUNT])
    expect(
      part &&
        elementsAt(part, 'CdtTrfTxInf/PmtId/EndToEndId')
          .map(({ text }) => text)
          .sort(),
    ).toEqual([first.endToEndId, second.endToEndId].sort())

    const statement = camt([bookingOf(first.endToEndId, '12.34'), bookingOf(second.endToEndId, '1000.00')])
    writeFileSync(join(inbox, 'statement.xml'), statement)
    await readInbox(worker)
    expect(readdirSync(join(inbox, 'read'))).toContain('statement.xml')
    await sweep()
    expect([(await get(first.id)).status, (await get(second.id, other)).status]).toEqual([
      'completed',
      'completed',
    ])

    const back = await bodyOf(
      receiveFile(camt([returnedBooking(first.endToEndId, '12.34')], { kind: 'camt.054' })),
    )
    expect(back.payments).toEqual([
      {
        endToEndId: first.endToEndId,
        transferId: first.id,
        status: null,
        notice: 'returned',
        reasonCode: 'AC04',
        amountEuros: 12.34,
        outcome: 'taken',
        note: null,
      },
    ])
    await sweep()
    expect(await get(first.id)).toMatchObject({ status: 'returned', reason: { code: 'AC04' } })
    expect((await bodyOf(receiveFile(statement))).messageId).toBe('MSG-1')
    await sweep()
    expect((await get(first.id)).status).toBe('returned')
    await proveLedgers()
  })

  test('leave at once, each in a file of its own, if they are instant', async () => {
    const first = await aDueTransfer(live, { scheme: 'sct_inst' })
    await sweep()
    await sweep()
    const [name] = await filesOf(String(first.endToEndId))
    expect(name).toMatch(/^sct_inst-/)
    expect(readFileSync(join(out, String(name)), 'utf8')).toContain('<LclInstrm><Cd>INST</Cd></LclInstrm>')
    const { messageId } = await lastFile()
    await bodyOf(receiveFile(pain002({ to: messageId, payments: [[String(first.endToEndId), 'ACCC']] })))
    await sweep()
    expect((await get(first.id)).status).toBe('completed')
  })

  test('leave within their ten seconds without a run, too, if they are instant', async () => {
    const { endToEndId } = await aDueTransfer(live, { scheme: 'sct_inst' })
    const withoutFiles: BindActivities = caller => ({
      ...worker.activities(caller),
      makeSepaFile: async () => undefined,
    })
    await sweep({ activities: withoutFiles })
    expect(await filesOf(String(endToEndId))).toEqual([])
    const rescues: Rescue[] = []
    const onRescue = (rescue: Rescue) => void rescues.push(rescue)
    const roundAfter = async (seconds: number) => {
      await service.sql(
        `update sepa_files set due_at = now() - $1 * interval '1 second', updated_at = now() - $1 * interval '1 second'
         where scheme = 'sct_inst' and due_at is not null`,
        [seconds],
      )
      await endOverdueRecords({ ...worker, rescueAfterMs: 30_000, onRescue })
    }
    await roundAfter(1)
    expect(await filesOf(String(endToEndId))).toEqual([])
    await roundAfter(4)
    expect(await filesOf(String(endToEndId))).toHaveLength(1)
    const operations = rescues.map(({ operation }) => operation)
    expect(operations.filter(operation => operation.startsWith('rails.'))).toEqual([
      ...['rails.make', 'rails.stage', 'rails.release'],
    ])
  })

  test('are handed over again within their ten seconds, if they are instant, where the bank’s folder was away', async () => {
    const { endToEndId } = await aDueTransfer(live, { scheme: 'sct_inst' })
    renameSync(out, `${out}.away`)
    writeFileSync(out, 'no folder')
    try {
      await expect(times(2, () => sweep())).rejects.toThrow('could not be ended')
      const dueSoon = await service.sql(
        `select from sepa_files where scheme = 'sct_inst' and due_at <= now() + interval '3 seconds'`,
      )
      expect(dueSoon).toHaveLength(1)
    } finally {
      rmSync(out)
      renameSync(`${out}.away`, out)
    }
    await service.sql(`update sepa_files set due_at = now() where scheme = 'sct_inst' and due_at > now()`)
    await sweep()
    expect(await filesOf(String(endToEndId))).toHaveLength(1)
  })

  test('are not rejected as lost, if they are instant, while they are put into their file', async () => {
    const { id, endToEndId } = await aDueTransfer(live, { scheme: 'sct_inst' })
    await withConnection(service.databaseUrl, async holder => {
      await holder.query('begin; lock table sepa_files in share mode')
      const submitting = sweep().then(() => sweep())
      const waits = (what: string) => service.sql(`select from pg_locks where not granted and ${what}`)
      await until(
        'it is put into its file',
        async () => (await waits(`relation = 'sepa_files'::regclass`))[0],
      )
      await makeDue()
      let isAnswered = false
      const asking = sweep().then(() => {
        isAnswered = true
      })
      await until(
        'the outcome is asked for',
        async () => isAnswered || (await waits(`locktype = 'advisory'`)).length > 0,
      )
      await holder.query('commit')
      await Promise.all([submitting, asking])
    })
    await sweep()
    await sweep()
    expect([(await get(id)).status, (await filesOf(String(endToEndId))).length]).toEqual(['submitted', 1])
  })

  test('are put into no file, if they are instant, once their time is over', async () => {
    const { id, scheme, endToEndId } = await aDueTransfer(live, { scheme: 'sct_inst' })
    const at = new Date()
    const put = (until: Date) =>
      sepaQueue(tenantOperationRunner(worker.execute, worker.operations)).put(
        {
          ...{ ownerId: owners[0].ownerId, scheme: scheme ?? 'sct', endToEndId: String(endToEndId), until },
          ...{ amountCents: cents(1_250n), payerIban: null, reference: null, submittedAt: at, at },
          payee: { name: 'Adler GmbH', iban: ACCOUNT, bic: null },
        },
        { reference: id, requestId: newId('request') },
      )
    expect(await put(addMs(at, -1))).toBeNull()
    expect(await put(addMs(at, minutes(1)))).toBe('waiting')
    expect(await put(addMs(at, -1))).toBe('waiting')
  })

  test('go into no file that was made before them, and an empty cut-off makes no file', async () => {
    const first = await aSubmitted()
    await closeFiles()
    const second = await aDueTransfer(live)
    await Promise.all([sweep(), sweep()])
    await cutOff()
    for (const { endToEndId } of [first, second]) expect(await filesOf(String(endToEndId))).toHaveLength(1)
    const [row] = await service.sql<{ open: string }>(
      `select count(*) as open from sepa_files where status = 'open'`,
    )
    expect(row?.open).toBe('0')
  })

  test('wait while another rail is configured, and are then ordered for a day that is not over', async () => {
    const { endToEndId } = await aSubmitted()
    await service.sql(`update sepa_files set execute_on = '2026-01-05' where status = 'open'`)
    await closeFiles()
    await expect(sweepAtOnce(sandboxWorker)).rejects.toThrow()
    expect(await filesOf(endToEndId)).toEqual([])
    await sweep()
    const { executeOn } = await lastFile()
    expect(isBankDay(executeOn) && executeOn >= new Date().toISOString().slice(0, 10)).toBe(true)
    expect(await filesOf(endToEndId)).toEqual([expect.stringContaining(`sct-${executeOn}-`)])
  })

  test('can be taken out while they wait; once ordered, only the bank can return them', async () => {
    const [waiting, ordered] = [await aSubmitted(), await aSubmitted()]
    const recall = async (id: string) => {
      await bodyOf(live.transfers.recall({ params: { id }, body: { reason: 'Paid twice' } }))
      await makeDue()
      await sweep()
    }
    await recall(waiting.id)
    expect(await get(waiting.id)).toMatchObject({ status: 'rejected', recall: { status: 'accepted' } })
    await cutOff()
    expect([await filesOf(waiting.endToEndId), (await filesOf(ordered.endToEndId)).length]).toEqual([[], 1])
    await recall(ordered.id)
    expect(await get(ordered.id)).toMatchObject({
      status: 'submitted',
      recall: {
        status: 'refused',
        answer: { code: 'not_by_files', message: expect.stringContaining('Contact the bank') },
      },
    })
    await proveLedgers()
  })
})

describe('a file for the bank', () => {
  /** After this operation, or this activity. */
  const killedAfter = (name: string) => ({
    async execute(call: ApiCall) {
      const outcome = await worker.execute(call)
      if (call.operation.key === name) throw new Error('the worker was killed')
      return outcome
    },
    activities(caller: ActivityCaller) {
      const usual: ReturnType<BindActivities> = worker.activities(caller)
      const killed = async (ref: never) => {
        await usual[name]?.(ref)
        throw new Error('the worker was killed')
      }
      return name in usual ? { ...usual, [name]: killed } : usual
    },
  })

  test('has a payment once and is handed over once, after whichever step the worker is killed', async () => {
    const transfer = await aDueTransfer(live)
    const endToEndId = String(transfer.endToEndId)
    for (const key of ['verifyPayee', 'submitPayment']) {
      await expect(sweep(killedAfter(key))).rejects.toThrow()
      await makeDue()
    }
    await closeFiles()
    for (const activity of ['makeSepaFile', 'stageSepaFile', 'handOverSepaFile'])
      await expect(sweep(killedAfter(activity))).rejects.toThrow()
    await times(3, () => sweep())
    expect(await filesOf(endToEndId)).toHaveLength(1)
    const orders = await service.sql('select 1 from sepa_instructions where end_to_end_id = $1', [endToEndId])
    expect(orders).toHaveLength(1)
    expect((await get(transfer.id)).status).toBe('submitted')
  })

  test('has payments of which each has the owner of its transfer', async () => {
    const first = await aSubmitted()
    const second = await aDueTransfer(other)
    const add = (columns: string, values: string) =>
      service.sql(
        `insert into sepa_instructions (id, file_id, created_at, end_to_end_id, amount_cents, payee${columns})
         select $1, file_id, created_at, $2, amount_cents, payee${values} from sepa_instructions where id = $3
         on conflict (id) do nothing`,
        [second.id, second.endToEndId, first.id],
      )
    await expect(add(', owner_id, mode', ', owner_id, mode')).rejects.toThrow(/foreign key/)
    await sweep()
    const rows = await service.sql(
      `select t.owner_id = i.owner_id and t.mode = i.mode as same from sepa_instructions i
       join transfers t using (id) where id = any($1)`,
      [[first.id, second.id]],
    )
    expect(rows).toEqual([{ same: true }, { same: true }])
    await cutOff()
    expect(await filesOf(String(second.endToEndId))).toEqual(await filesOf(first.endToEndId))
  })

  test('is not made again if the bank fetched it before that was recorded', async () => {
    const { endToEndId } = await aSubmitted()
    await closeFiles()
    await service.sql(`
      create function refuse_handing_over() returns trigger language plpgsql as $$
      begin if new.status = 'handed_over' then raise exception 'the worker was killed'; end if; return new; end $$;
      create trigger refuse before update on sepa_files for each row execute function refuse_handing_over()`)
    await expect(sweep()).rejects.toThrow()
    const [name] = await filesOf(endToEndId)
    rmSync(join(out, String(name)))
    await service.sql('drop trigger refuse on sepa_files')
    await service.sql(`update sepa_files set due_at = now() where status = 'staged'`)
    await sweep()
    expect(await filesOf(endToEndId)).toEqual([])
    expect(name).toContain((await lastFile()).messageId)
  })

  test('a file is written once by concurrent workers, and its content never changes', async () => {
    const { endToEndId } = await aSubmitted()
    await closeFiles()
    await times(4, () => sweep())
    expect(await filesOf(endToEndId)).toHaveLength(1)
    const { id } = await lastFile()
    for (const change of [`set content = 'x'`, 'set total_cents = 1'])
      await expect(service.sql(`update sepa_files ${change} where id = $1`, [id])).rejects.toThrow(/is made/)
    await expect(service.sql('delete from sepa_instructions where file_id = $1', [id])).rejects.toThrow(
      /is ordered/,
    )
  })
})

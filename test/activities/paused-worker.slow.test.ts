import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { freeDeadLeases } from '../../src/kernel/database/process-lease.ts'
import { recordingRail } from '../support/commerce/rail.ts'
import { transferSteps } from '../support/commerce/transfer-steps.ts'
import { startEngine } from '../support/engine.ts'
import { launch } from '../support/processes/launched.ts'
import { queryValues } from '../support/rows.ts'
import { until } from '../support/until.ts'

/** The commit of a submission waits until this table is empty. */
const WAITING = `
  create table waiting (row integer);
  create function wait_to_commit() returns trigger language plpgsql as
    'begin while exists (select from waiting) loop perform pg_sleep(0.05); end loop; return null; end';
  create constraint trigger wait_to_commit after update on transfers deferrable initially deferred
    for each row when (old.submitted_at is null and new.submitted_at is not null) execute function wait_to_commit()`
const engine = await startEngine(areas, WAITING)
const rail = recordingRail()
const { sql, takeStep, drive, aTransfer, expectEnd } = transferSteps(engine, rail)
Object.assign(engine.runtime.ports.systems, { sepaRail: () => rail.rail })

const isCommitting = async () =>
  (
    await queryValues(
      engine.databaseUrl,
      `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    )
  ).length > 0

/** Longer than Temporal waits for an activity: it has given the task to another worker. */
const isGivenUp = async (id: string) =>
  (
    await sql(
      `select from transfers where id = $1 and clock_timestamp() > submitted_at + interval '16 seconds'`,
      [id],
    )
  ).length > 0

describe('a worker that is paused between the reservation of a submission and its call', () => {
  test.each(['was freed', 'was not freed by any other process'])(
    'calls no bank when it wakes after its time, although its lease %s',
    async what => {
      const transfer = await aTransfer()
      const { id, tenant, input } = transfer
      await takeStep('verifyPayee', input)
      await engine.sql('insert into waiting values (1)')
      const worker = launch(
        process.execPath,
        ['test/support/commerce/submitting-worker.ts', id, tenant.ownerId],
        { DATABASE_URL: engine.databaseUrl },
      )
      await until('it reserves', isCommitting)
      worker.kill('SIGSTOP')
      await engine.sql('delete from waiting')
      await until('its time is over', () => isGivenUp(id))
      if (what === 'was freed') expect(await freeDeadLeases(sql)).toBeGreaterThan(0)

      await takeStep('submitPayment', input)
      expect(rail.count('submit', id)).toBe(0)
      await drive(transfer)
      await expectEnd(transfer, 'completed')
      expect(rail.count('submit', id)).toBe(1)

      worker.kill('SIGCONT')
      await worker.untilOutput(/the activity has ended: outcome_unknown/)
      await worker.exit
      expect(worker.output()).not.toContain('the bank is called')
      await expectEnd(transfer, 'completed')
    },
  )
})

import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { areas } from '../../../src/areas.ts'
import { client as clientOf } from '../../../src/derive/client.ts'
import { endOverdue } from '../../../src/kernel/background/deadlines.ts'
import { type Payee, paidRequestsIn } from '../../support/commerce/paid-requests.ts'
import { balanceOf, getRequest } from '../../support/commerce/requests.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectSoundLedgers } from '../../support/money/sound-ledgers.ts'
import { startApi } from '../../support/processes/processes.ts'
import { until } from '../../support/until.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const service = await startTestService()
const worker = await openWorkerRuntime(service)
const { anApprovedPayee } = paidRequestsIn(service)

/** What a killed process was about to write, as a trigger on incoming credits. */
const STEPS = {
  'before it leaves the first ledger': `before insert on incoming_credits for each row when (new.status = 'handed_over')`,
  'before it is in the other ledger': `before insert on incoming_credits for each row when (new.status <> 'handed_over')`,
  'before it is noted as arrived': `before update on incoming_credits for each row when (new.due_at is null and old.due_at is not null)`,
} as const

/** Kills a process that this work asks for something, at the moment when it is about to write this. */
async function killAt(when: string, work: (url: string) => Promise<unknown>): Promise<void> {
  const locker = new pg.Client({ connectionString: service.databaseUrl })
  await locker.connect()
  await locker.query('select pg_advisory_lock(17)')
  await service.sql(`
    create function wait_for_the_kill() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(17); return new; end $$;
    create trigger wait_for_the_kill ${when} execute function wait_for_the_kill()`)
  const api = await startApi(service.databaseUrl)
  const answer = work(api.url).then(
    () => 'answered',
    () => 'lost',
  )
  await until('it is about to write', async () => {
    const waiting = await service.sql(
      `select from pg_locks where locktype = 'advisory' and objid = 17 and not granted`,
    )
    return waiting.length > 0
  })
  api.kill('SIGKILL')
  await api.exit
  await answer
  // The commit may have been sent along: PostgreSQL would go on with it, although nobody waits for the answer.
  await service.sql(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 17 and not granted`,
  )
  await locker.end()
  await service.sql('drop function wait_for_the_kill cascade')
}

/** The sweep, a minute later. */
async function sweep(): Promise<void> {
  await service.sql('update incoming_credits set due_at = now() where due_at is not null')
  await endOverdue(worker)
}

const key = { idempotencyKey: 'killed' }
const execute = (client: TestClient, { intent }: { readonly intent: { readonly id: string } }) =>
  client.checkout.execute({ body: { intentId: intent.id }, ...key })
const refund = (client: TestClient, { request }: Pick<Payee, 'request'>) =>
  client.collect.refund({ params: { id: request.id }, body: { amountEuros: 10 }, ...key })

const balances = async ({ payer, agent, holder, wallet }: Payee) => [
  await balanceOf(payer.client, agent.walletId),
  await balanceOf(holder.client, wallet.id),
]

describe.each(Object.entries(STEPS))('a process that is killed %s', (point, when) => {
  const isLost = point === 'before it leaves the first ledger'

  test('has paid another owner’s request once, or not at all', async () => {
    const all = await anApprovedPayee()
    const { payer, holder, request } = all
    await killAt(when, url => execute(clientOf(areas, { url, token: payer.key }), all))
    await sweep()
    await sweep()
    const paid = [
      [9_975, 0],
      [25, 0],
    ]
    expect(await balances(all)).toEqual(
      isLost
        ? [
            [9_975, 25],
            [0, 0],
          ]
        : paid,
    )
    expect((await execute(payer.client, all)).status).toBe(200)
    expect(await balances(all)).toEqual(paid)
    expect(await getRequest(holder.client, request.id)).toMatchObject({ status: 'paid', surplusEuros: 0 })
    await expectSoundLedgers(service)
  })

  test('has given it back once, or not at all', async () => {
    const all = await anApprovedPayee()
    const { payer, holder, request, intent } = all
    await bodyOf(payer.client.checkout.execute({ body: { intentId: intent.id } }))
    await killAt(when, url => refund(clientOf(areas, { url, token: holder.key }), all))
    await sweep()
    await sweep()
    const back = [
      [9_985, 0],
      [15, 0],
    ]
    expect(await balances(all)).toEqual(
      isLost
        ? [
            [9_975, 0],
            [25, 0],
          ]
        : back,
    )
    await service.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes'`)
    expect((await refund(holder.client, all)).status).toBe(200)
    expect(await balances(all)).toEqual(back)
    expect(await getRequest(holder.client, request.id)).toMatchObject({ refundedEuros: 10 })
    await expectSoundLedgers(service)
  })
})

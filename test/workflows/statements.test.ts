import { expect, test } from '@jest/globals'
import { newId } from '../../src/values/ids.ts'
import { aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { scheduleOf } from '../support/temporal/schedules.ts'
import { until } from '../support/until.ts'

const temporal = temporalOfRun()
const service = await startTestService({ temporal })
const { client: operator, of } = await runViewer()

const eventsOf = async (walletId: string): Promise<string[]> =>
  (
    await service.sql<{ period: string }>(
      `select data ->> 'period' as period from events where event = 'bill.updated' and data ->> 'walletId' = $1
       and data ->> 'status' = 'final' order by id`,
      [walletId],
    )
  ).map(({ period }) => period)

const schedule = scheduleOf(operator, temporal.taskQueue, 'statements')

const triggerSchedule = async () => of(await schedule.trigger()).untilEnded()

async function anOldWallet(cents: number): Promise<string> {
  const { client, ownerId } = await service.owner()
  const { id } = await aWallet(client)
  const stamps = `created_at = now() - interval '70 days', updated_at = now() - interval '70 days'`
  await service.sql(`update wallets set ${stamps} where id = $1`, [id])
  await service.sql(`update ledger_accounts set ${stamps} where wallet_id = $1`, [id])
  await service.sql(
    `insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents)
     values ($2, $1, 'test', now() - interval '70 days', now() - interval '70 days', 'EUR', 'bank', 'debit', 0)`,
    [ownerId, newId('account')],
  )
  await service.sql(
    `select ledger_post($1, 'test', now() - interval '62 days',
       jsonb_build_array(jsonb_build_object('id', $2::text, 'currency', 'EUR', 'kind', 'fund',
         'referenceType', 'trial', 'referenceId', $2::text)),
       (select jsonb_agg(jsonb_build_object('transferId', $2::text, 'accountId', id, 'hold', 0,
         'amount', case kind when 'bank' then -$3::int else $3::int end))
        from ledger_accounts where owner_id = $1))`,
    [ownerId, newId('posting'), cents],
  )
  return id
}

test('the monthly schedule finalizes the statement of every wallet with entries, and no other', async () => {
  const { spec, action } = await schedule.described()
  expect(spec.calendars).toEqual([
    expect.objectContaining({
      dayOfMonth: [{ start: 1, end: 1, step: 1 }],
      hour: [{ start: 0, end: 0, step: 1 }],
      minute: [{ start: 5, end: 5, step: 1 }],
    }),
  ])
  expect(action).toMatchObject({ type: 'startWorkflow', workflowType: 'statements' })
  const [first, second] = [await anOldWallet(500), await anOldWallet(700)]
  const { client } = await service.owner()
  const idle = (await aWallet(client)).id
  expect(await triggerSchedule()).toBe('2 statements made')
  expect([await eventsOf(first), await eventsOf(second), await eventsOf(idle)]).toEqual([
    [expect.any(String)],
    [expect.any(String)],
    [],
  ])
  expect(await triggerSchedule()).toBe('0 statements made')
  expect(await eventsOf(first)).toHaveLength(1)
})

test('the monthly run reads more wallets than one page holds', async () => {
  const { client, ownerId } = await service.owner()
  const { id } = await aWallet(client, 1)
  // As many idle wallets before it.
  await service.sql(
    `with w as (insert into wallets (id, owner_id, mode, created_at, updated_at, name, kind, currency, status, metadata)
       select 'wallet_0' || n, $1, 'test', now(), now(), 'Idle', 'owner', 'EUR', 'active', '{}'
       from generate_series(1, 300) as n returning id)
     insert into ledger_accounts
       (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
     select replace(id, 'wallet', 'account'), $1, 'test', now(), now(), 'EUR', 'wallet', 'credit', 0, id from w`,
    [ownerId],
  )
  await bodyOf(client.sandbox.advance({ body: { days: 40 } }))
  await until('its month is drawn up', async () => (await eventsOf(id)).length > 0)
  expect(await of({ workflowId: `statements/${ownerId}` }).untilEnded()).toBe('1 statements made')
})

test('a test clock that passes the end of a month finalizes the statements of its owner only', async () => {
  const [{ client, ownerId }, otherOwner] = [await service.owner(), await service.owner()]
  const [wallet, second] = [await aWallet(client, 25), await aWallet(otherOwner.client, 25)]
  const month = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 7)
  await bodyOf(client.sandbox.advance({ body: { days: 40 } }))
  await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 5 } }))
  await bodyOf(client.sandbox.advance({ body: { days: 40 } }))
  await until('both months are drawn up', async () => (await eventsOf(wallet.id)).length === 2)
  expect(await eventsOf(wallet.id)).toEqual([month(0), month(40)])
  expect(await eventsOf(second.id)).toEqual([])
  const query = { walletId: wallet.id, status: 'final' } as const
  const { data } = await bodyOf(client.statements.list({ query }))
  expect(data.map(({ openingEuros, closingEuros }) => [openingEuros, closingEuros])).toEqual([
    [25, 30],
    [0, 25],
  ])
  const run = of({ workflowId: `statements/${ownerId}` })
  await run.untilEnded()
  const isQuiet = async () =>
    (await service.sql(`select 1 from outbox where owner_id = $1`, [ownerId])).length === 0
  await until('the outbox is empty', isQuiet)
  const runIdOf = async () => (await run.handle.describe()).runId
  const [lastRun, before] = [
    await runIdOf(),
    (await service.sql(`select 1 from events where owner_id = $1`, [ownerId])).length,
  ]
  await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
  await until('the outbox is empty again', isQuiet)
  expect(await runIdOf()).toBe(lastRun)
  expect((await service.sql(`select 1 from events where owner_id = $1`, [ownerId])).length).toBe(before + 1)
})

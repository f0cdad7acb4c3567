import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { PLATFORM_OWNER_ID } from '../../../src/identity/customers/customer.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { clientAt } from '../../support/client.ts'
import { aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET } from '../../support/harness.ts'
import { startBooks } from '../../support/money/books.ts'
import { camt, payment } from '../../support/money/camt.ts'
import { incomingFilesIn, newReference } from '../../support/money/incoming-files.ts'
import { notedWrites } from '../../support/money/noted-writes.ts'
import { startApi } from '../../support/processes/processes.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { until } from '../../support/until.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const { service, client, tenant } = await startBooks()
const live = await aLiveClient(service, await service.owner())
const { proveLedgers, creditsOf, balanceOf, read } = incomingFilesIn({ service, client, live })
const worker = await openWorkerRuntime(service)

/** The sweep, a minute later. */
async function sweep(): Promise<void> {
  await service.sql('update incoming_credits set due_at = now() where due_at is not null')
  await sweepAtOnce(worker)
}

const assign = (id: string, walletId: string, dash = service.dash, more = {}) =>
  dash.incoming.assign({ params: { id }, body: { walletId }, ...more })

async function aCredit(amount = '40.00'): Promise<string> {
  const reference = newReference()
  await bodyOf(read(camt([{ reference, amount }])))
  const [credit] = await creditsOf(reference)
  return String(credit?.id)
}

async function inSuspense(): Promise<string> {
  const [account] = await service.sql<{ cents: string }>(
    `select posted_cents::text as cents from ledger_accounts where owner_id = $1 and mode = 'test' and kind = 'suspense'`,
    [PLATFORM_OWNER_ID],
  )
  return String(account?.cents)
}

const recordsOf = (id: string) =>
  service.sql(
    `select owner_id as owner, status, due_at is not null as due from incoming_credits where id = $1 order by status`,
    [id],
  )

const WAITING = `from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`

/** Blocks the booking of credits with every owner while this work runs. */
async function withoutArrivals(work: () => Promise<void>): Promise<void> {
  await service.sql(`
    create function refuse_arrival() returns trigger language plpgsql as $$
    begin if new.owner_id <> '${PLATFORM_OWNER_ID}' then raise exception 'it cannot be booked'; end if; return new; end $$;
    create trigger refuse before insert on incoming_credits for each row execute function refuse_arrival()`)
  try {
    await work()
  } finally {
    await service.sql('drop function refuse_arrival cascade')
  }
}

const ARRIVED = [
  { owner: tenant.ownerId, status: 'assigned', due: false },
  { owner: PLATFORM_OWNER_ID, status: 'handed_over', due: false },
]

/** The state that a version before 0.6.0 leaves: the owner books the credit in a transaction of its own. */
async function handedOverBefore(id: string, walletId: string): Promise<void> {
  await service.sql(
    `update incoming_credits set status = 'handed_over', to_owner_id = $2, wallet_id = $3, due_at = now() where id = $1`,
    [id, tenant.ownerId, walletId],
  )
}

describe('a credit that an earlier version has handed over', () => {
  test('is booked once by the sweep', async () => {
    const id = await aCredit()
    const wallet = await aWallet(client)
    await handedOverBefore(id, wallet.id)
    expect(await assign(id, wallet.id)).toMatchObject({ status: 400, code: 'credit_not_unmatched' })
    await withoutArrivals(() => expect(sweep()).rejects.toThrow())
    await times(4, sweep)
    expect(await balanceOf(wallet.id)).toBe(40)
    expect(await recordsOf(id)).toEqual(ARRIVED)
  })

  test('waits on the owner’s suspense account if its wallet was closed meanwhile', async () => {
    const id = await aCredit()
    const [wallet, next] = [await aWallet(client), await aWallet(client)]
    await handedOverBefore(id, wallet.id)
    await bodyOf(client.wallets.close({ params: { id: wallet.id } }))
    await sweep()
    const listed = async () =>
      (await bodyOf(service.dash.incoming.list({ query: {} }))).data.filter(credit => credit.id === id)
    expect(await listed()).toMatchObject([
      { status: 'unmatched', reason: 'wallet_closed', ownerId: tenant.ownerId },
    ])
    expect(await bodyOf(assign(id, next.id))).toMatchObject({ status: 'assigned', walletId: next.id })
    expect(await balanceOf(next.id)).toBe(40)
  })
})

describe('a credit that is assigned', () => {
  test('stays in suspense if its owner cannot book it', async () => {
    const id = await aCredit()
    const wallet = await aWallet(client)
    const before = await inSuspense()
    await withoutArrivals(async () => expect((await assign(id, wallet.id)).status).toBe(500))
    expect(await inSuspense()).toBe(before)
    expect(await recordsOf(id)).toEqual([{ owner: PLATFORM_OWNER_ID, status: 'unmatched', due: false }])
    expect(await bodyOf(assign(id, wallet.id))).toMatchObject({ status: 'assigned' })
    expect(Number(before) - Number(await inSuspense())).toBe(4_000)
    expect(await recordsOf(id)).toEqual(ARRIVED)
    await proveLedgers()
  })

  test('stays in suspense if the process is killed, and is assigned by the next request with its key', async () => {
    const id = await aCredit()
    const wallet = await aWallet(client)
    const api = await startApi(service.databaseUrl)
    const locker = new pg.Client({ connectionString: service.databaseUrl })
    await locker.connect()
    await locker.query('begin')
    await locker.query('select from ledger_accounts where wallet_id = $1 for update', [wallet.id])
    const dash = clientAt({ url: api.url, dashboardSecret: DASHBOARD_SECRET })
    const key = { idempotencyKey: 'killed' }
    const answer = assign(id, wallet.id, dash, key).catch(() => 'lost')
    await until('it waits for the wallet', async () => (await service.sql(`select ${WAITING}`)).length > 0)
    api.kill('SIGKILL')
    await api.exit
    expect(await answer).toBe('lost')
    // What was sent already would be carried out, although no client waits for the answer; its key is in use until then.
    await service.sql(`select pg_terminate_backend(pid, 60000) ${WAITING}`)
    await locker.end()
    expect(await recordsOf(id)).toEqual([{ owner: PLATFORM_OWNER_ID, status: 'unmatched', due: false }])
    expect(await bodyOf(assign(id, wallet.id, service.dash, key))).toMatchObject({ id, status: 'assigned' })
    expect(await balanceOf(wallet.id)).toBe(40)
    await proveLedgers()
  })

  test('has the same answer for its Idempotency-Key once it is booked', async () => {
    const id = await aCredit()
    const wallet = await aWallet(client)
    const request = () => bodyOf(assign(id, wallet.id, service.dash, { idempotencyKey: 'once' }))
    const first = await request()
    expect(first.status).toBe('assigned')
    expect(await request()).toEqual(first)
    expect(await balanceOf(wallet.id)).toBe(40)
  })
})

test('a credit is handed over once by twenty concurrent requests', async () => {
  const id = await aCredit()
  const wallets = await times(4, () => aWallet(client))
  const answers = await times(20, index => assign(id, String(wallets[index % 4]?.id)))
  expect(statusCounts(answers)).toEqual({ 200: 1, 400: 19 })
  const balances = await Promise.all(wallets.map(wallet => balanceOf(wallet.id)))
  expect(balances.toSorted()).toEqual([0, 0, 0, 40])
  await proveLedgers()
})

test('a file is read as a whole or not at all: nothing of it if one owner cannot book', async () => {
  const stranger = await service.owner()
  const wallets = [await aWallet(client), await aWallet(stranger.client)]
  const xml = camt(
    wallets.map(({ iban }) => ({ reference: newReference(), details: [payment({ iban: String(iban) })] })),
  )
  const balances = async () => [
    await balanceOf(String(wallets[0]?.id)),
    await balanceOf(String(wallets[1]?.id), stranger.client),
  ]
  await withoutArrivals(async () => expect((await read(xml)).status).toBe(500))
  expect(await balances()).toEqual([0, 0])
  expect(await bodyOf(read(xml))).toMatchObject({ matched: 2, unmatched: 0 })
  expect(await bodyOf(read(xml))).toMatchObject({ matched: 0, known: 2 })
  expect(await balances()).toEqual([25, 25])
  await proveLedgers()
})

test('books a file in one transaction of the platform and its owners, and an assignment in another', async () => {
  const stranger = await service.owner()
  const wallets = [await aWallet(client), await aWallet(stranger.client)]
  const id = await aCredit()
  const written = await notedWrites(service, async () => {
    const details = wallets.map(({ iban }) => [payment({ iban: String(iban) })])
    const bookings = [...details, [payment({ text: 'for nobody' })]]
    await bodyOf(read(camt(bookings.map(details => ({ reference: newReference(), details })))))
    await bodyOf(assign(id, String(wallets[1]?.id)))
  })
  const together = written.filter(owners => owners.length > 1).map(owners => owners.toSorted())
  expect(together.toSorted((one, other) => other.length - one.length)).toEqual([
    [PLATFORM_OWNER_ID, tenant.ownerId, stranger.ownerId].toSorted(),
    [PLATFORM_OWNER_ID, stranger.ownerId].toSorted(),
  ])
})

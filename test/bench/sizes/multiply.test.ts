import { describe, expect, test } from '@jest/globals'
import { type Copy, Multiplier } from './multiply.ts'
import type { Row, TableRows, Template } from './template.ts'

const OWNER = 'customer_01k0000000e008000000000001'
const ACCOUNT = 'account_01k0000000e008000000000002'
const OPENING = 'posting_01k0000000e008000000000003'
const PAYMENT = 'posting_01k0000000e008000000000004'

const table = (
  name: string,
  columns: Readonly<Record<string, string>>,
  keys: readonly string[],
  rows: readonly Row[],
): TableRows => {
  const names = Object.keys(columns)
  return {
    name,
    columns: Object.entries(columns).map(([column, type]) => ({ name: column, type })),
    key: keys.map(key => names.indexOf(key)),
    rows,
  }
}

const accounts = (version: number, cents: number) =>
  table(
    'ledger_accounts',
    { id: 'text', version: 'bigint', posted_cents: 'bigint', held_cents: 'bigint' },
    ['id'],
    [[ACCOUNT, String(version), String(cents), '0']],
  )
const entries = (...rows: readonly Row[]) =>
  table(
    'ledger_entries',
    {
      account_id: 'text',
      version: 'bigint',
      transfer_id: 'text',
      balance_after_cents: 'bigint',
      held_after_cents: 'bigint',
    },
    ['account_id', 'version'],
    rows,
  )
const counters = (cents: number) =>
  table(
    'counters',
    { subject: 'text', period: 'text', spent_cents: 'bigint' },
    ['subject', 'period'],
    [[ACCOUNT, 'all', String(cents)]],
  )
const events = (...rows: readonly Row[]) =>
  table(
    'events',
    { owner_id: 'text', id: 'text', created_at: 'timestamp(3) with time zone', written_in: 'bigint' },
    ['id'],
    rows,
  )

const OPENED: Row = [ACCOUNT, '1', OPENING, '1000', '0']
const PAID: Row = [ACCOUNT, '2', PAYMENT, '900', '0']
const BEGUN: Row = [OWNER, 'event_01k0000000e008000000000005', '2026-11-20 10:00:00.000+00', '7']

const template: Template = {
  ownerId: OWNER,
  token: 'sk_sandbox_0123456789',
  account: {} as Template['account'],
  before: [accounts(1, 1_000), entries(OPENED), counters(100), events(BEGUN)],
  after: [
    accounts(2, 900),
    entries(OPENED, PAID),
    counters(200),
    events(BEGUN, [OWNER, 'event_01k0000000e008000000000006', '2026-11-20 10:00:01.000+00', '8']),
  ],
}

const NAMES = ['ledger_accounts', 'ledger_entries', 'counters', 'events'] as const

/** The written lines, by table, of an owner with this many sets of the payments. */
function written(repeats: number, from: Template = template) {
  const lines = new Map(NAMES.map(name => [name as string, [] as string[]]))
  const multiplier = new Multiplier(from, 1_000)
  const still = { openedMs: 0, movedMs: 0, lastMovedMs: 0 }
  for (let repeat = 0; repeat < repeats; repeat++)
    multiplier.add({ owner: 1, number: repeat + 1, repeat, repeats, ...still } satisfies Copy, lines)
  return Object.fromEntries(
    [...lines].map(([name, all]) => [name, all.map(line => line.trimEnd().split('\t'))]),
  )
}

describe('several sets of payments of an owner', () => {
  test('are one chain of entries, and the account stands where it ends', () => {
    const { ledger_entries: chain = [], ledger_accounts: [account = []] = [] } = written(3)
    expect(chain.map(([, version, , balance]) => [version, balance])).toEqual([
      ['1', '1000'],
      ['2', '900'],
      ['3', '800'],
      ['4', '700'],
    ])
    expect(account.slice(1)).toEqual(['4', '700', '0'])
  })

  test('have ids of their own on the same account', () => {
    const { ledger_entries: chain = [] } = written(3)
    expect(new Set(chain.map(([account]) => account)).size).toBe(1)
    expect(new Set(chain.map(([, , transfer]) => transfer)).size).toBe(4)
  })

  test('are added up where one row counts several payments', () => {
    expect(written(3).counters?.map(([, , cents]) => cents)).toEqual(['400'])
  })

  test('follow each other in the journal', () => {
    const order = written(2).events?.map(([, , , transaction]) => Number(transaction)) ?? []
    expect(order).toHaveLength(3)
    expect(order.toSorted((a, b) => a - b)).toEqual(order)
  })

  test('are refused if one row would be written twice', () => {
    const shared = table('purses', { id: 'text', cents: 'bigint' }, ['id'], [[ACCOUNT, '5']])
    const unknown = { ...template, after: [...template.after, shared] }
    expect(() => written(2, unknown)).toThrow('purses: say in SUMMED')
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { schemaHistory } from '../../src/migrations/index.ts'
import { updateSchema } from '../../src/platform/schema.ts'
import { cloneDatabase } from '../support/database.ts'

const client = new pg.Client({ connectionString: await cloneDatabase() })
await client.connect()
afterAll(() => client.end())

const rowsOf = async (sql: string): Promise<pg.QueryResultRow[]> => (await client.query(sql)).rows

/** Two postings between two accounts, and a hold; a payment under way, a completed one and two that failed; SEPA transfers. */
const WRITTEN = `
insert into ledger_transfers (id, owner_id, mode, currency, kind, reference_type, reference_id, booked_at, value_date)
select 'posting_' || n, 'customer_1', 'test', 'EUR', 'transfer', 'transfer', 'transfer_' || n, now(), current_date
from generate_series(1, 3) n;
insert into ledger_entries (account_id, version, owner_id, mode, transfer_id, amount_cents, hold_id, hold_cents,
  balance_after_cents, held_after_cents, booked_at)
select account, version, 'customer_1', 'test', 'posting_' || posting, amount, case when amount = 0 then 'hold_1' end,
  case when amount = 0 then 1 else 0 end, 0, 0, now()
from (values ('account_b', 1, 1, -5), ('account_a', 1, 1, 5), ('account_b', 2, 2, -6), ('account_a', 2, 2, 6),
  ('account_b', 3, 3, 0)) as e (account, version, posting, amount);
insert into transactions (id, owner_id, mode, created_at, updated_at, wallet_id, type, status, currency, amount_cents,
  refunded_cents, merchant, decline_reason, witnesses)
select 'txn_' || status, 'customer_1', 'test', now(), now(), 'wallet_1', 'card', status, 'EUR', 5,
  case status when 'refunded' then 5 else 0 end, 'Shop', case status when 'declined' then 'no' end, '[]'
from unnest(array['authorization', 'completed', 'declined', 'refunded']) as status;
insert into transfers (id, owner_id, mode, created_at, updated_at, from_wallet_id, kind, amount_cents, status, scheme,
  end_to_end_id, payee, counted_on, workflow_id, completed_at, submitted_at, due_at)
select 'transfer_' || status, 'customer_1', 'test', now(), now(), 'wallet_1', 'sepa', 5, status, 'sct', 'E' || status, '{}',
  current_date, 'transfer/' || status, case status when 'completed' then now() end,
  case when status in ('submitted', 'completed') then now() end, case status when 'submitted' then now() end
from unnest(array['submitted', 'completed', 'cancelled']) as status;
insert into mpp_credentials (id, owner_id, mode, created_at, updated_at, agent_id, intent_id, card_id, agent_credential_id,
  status, sent_by, merchant, url, method, amount_cents, network, challenge_id, challenge, request_digest, credential_digest,
  asked_at, sent_at, due_at)
values ('mppcredential_1', 'customer_1', 'test', now(), now(), 'agent_1', 'intent_1', 'card_1', 'agentcredential_1', 'sent',
  'service', 'shop', 'https://shop', 'GET', 5, 'visa', 'c', '{"id": "c", "realm": "shop"}', 'd', 'e', now(), now(), now())`

describe('the payments of a database of an earlier version', () => {
  beforeAll(async () => {
    const migrations = schemaHistory().migrations.filter(({ name }) => name < '0011')
    await client.query('drop schema public cascade; create schema public; set check_function_bodies = off')
    await updateSchema(client, { migrations, stamps: [], released: {} })
    await client.query(`set session_replication_role = replica; ${WRITTEN}; reset session_replication_role`)
    await updateSchema(client, { ...schemaHistory(), stamps: [] })
  })

  test('have postings that name their entries', async () => {
    expect(
      await rowsOf('select id, entry_accounts, entry_versions::int[] from ledger_transfers order by id'),
    ).toEqual([
      { id: 'posting_1', entry_accounts: ['account_a', 'account_b'], entry_versions: [1, 1] },
      { id: 'posting_2', entry_accounts: ['account_a', 'account_b'], entry_versions: [2, 2] },
      { id: 'posting_3', entry_accounts: ['account_b'], entry_versions: [3] },
    ])
  })

  test('are under way, or have a status of their own', async () => {
    expect(await rowsOf('select id from open_transactions')).toEqual([{ id: 'txn_authorization' }])
    expect(
      await rowsOf('select id from transactions where exceptional_status is not null order by id'),
    ).toEqual([{ id: 'txn_declined' }, { id: 'txn_refunded' }])
    expect(await rowsOf('select id from transfers where exceptional_status is not null')).toEqual([
      { id: 'transfer_cancelled' },
    ])
    expect(await rowsOf('select kind, id from deadlines order by kind')).toEqual([
      { kind: 'mpp_credentials', id: 'mppcredential_1' },
      { kind: 'transfers', id: 'transfer_submitted' },
    ])
  })

  test('are doubtful where their outcome is unknown', async () => {
    expect(await rowsOf('select kind, id, amount_cents::int, workflow_id from doubtful_money')).toEqual([
      {
        ...{ kind: 'transfer', id: 'transfer_submitted', amount_cents: 5 },
        workflow_id: 'transfer/submitted',
      },
    ])
  })

  test('have the same challenges', async () => {
    expect(await rowsOf('select challenge from mpp_credentials')).toEqual([
      { challenge: { id: 'c', realm: 'shop' } },
    ])
  })

  test('move and lose their deadlines with their rows', async () => {
    const due = () =>
      rowsOf(`select due_at = '2030-01-01Z' as moved from deadlines where id = 'transfer_submitted'`)
    await client.query(`update transfers set due_at = '2030-01-01Z' where id = 'transfer_submitted'`)
    expect(await due()).toEqual([{ moved: true }])
    await client.query(
      `update transfers set due_at = null, status = 'completed', completed_at = now() where id = 'transfer_submitted'`,
    )
    expect([await due(), await rowsOf('select from doubtful_money')]).toEqual([[], []])
    await client.query(`update transactions set status = 'completed' where id = 'txn_authorization'`)
    expect(await rowsOf('select from open_transactions')).toEqual([])
  })
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { schemaHistory } from '../../src/migrations/index.ts'
import { updateSchema } from '../../src/platform/schema.ts'
import { cloneDatabase } from '../support/database.ts'

const client = new pg.Client({ connectionString: await cloneDatabase() })
await client.connect()
afterAll(() => client.end())

/** Approvals by the operator before events said so, by the operator, by the installation, and one whose event was removed. */
const WRITTEN = `
insert into onboardings (id, owner_id, mode, created_at, updated_at, status, legal_name, legal_form, register_number, address,
  intended_use, expected_monthly_volume_cents, information_requests, reason, ended_at, workflow_id)
select id, 'customer_1', 'test', now(), now(), status, 'A', 'GmbH', 'HRB 1', '{}', 'papers', 1, '[]',
  case status when 'rejected' then 'unknown' end, case when status <> 'submitted' then now() end, 'onboarding/' || id
from (values ('before', 'approved'), ('operator', 'approved'), ('installation', 'approved'), ('removed', 'approved'),
  ('rejected', 'rejected'), ('withdrawn', 'withdrawn'), ('open', 'submitted')) as one (id, status);
insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id, written_in)
select 'event_' || lpad(n::text, 26, '0'), 'customer_1', 'test', 'onboarding.approved', data::jsonb, 'r', now(), 'dash',
  'onboarding.approve', 'done', id, 1
from (values (1, 'before', '{}'), (2, 'operator', '{"decidedBy": "operator"}'),
  (3, 'installation', '{"decidedBy": "installation"}')) as one (n, id, data)`

describe('the onboardings of a database of an earlier version', () => {
  beforeAll(async () => {
    const migrations = schemaHistory().migrations.filter(({ name }) => name < '0031')
    await client.query('drop schema public cascade; create schema public; set check_function_bodies = off')
    await updateSchema(client, { migrations, stamps: [], released: {} })
    await client.query('select add_event_partitions()')
    await client.query(`set session_replication_role = replica; ${WRITTEN}; reset session_replication_role`)
    await updateSchema(client, { ...schemaHistory(), stamps: [] })
  })

  test('say who decided, as far as is known', async () => {
    const { rows } = await client.query('select id, decided_by from onboardings')
    expect(Object.fromEntries(rows.map(row => [row.id, row.decided_by]))).toEqual({
      before: 'operator',
      operator: 'operator',
      installation: 'installation',
      removed: null,
      rejected: 'operator',
      withdrawn: null,
      open: null,
    })
  })
})

import { openSigner } from '../../../src/app/signer.ts'
import { sealNextPage } from '../../../src/compliance/audit/index.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { ENCRYPTION_KEY, newOwner, type Stage, withClient } from '../stage.ts'

const PAYEES = `
insert into beneficiaries (id, owner_id, mode, created_at, updated_at, name, sepa_name, iban, country, email, deleted_at)
select 'beneficiary_' || lpad(n::text, 26, '0'), $1, 'test', now(), now(), 'Ada ' || n, 'Ada ' || n,
  'DE' || lpad(n::text, 20, '0'), 'DE', 'ada' || n || '@example.com', now() from generate_series(1, $2::int) as n`

const EVENTS = `
insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, actor_id, action, outcome,
  resource_id, address, recorded_at)
select 'event_01jd8x2m4y' || lpad(n::text, 16, '0'), $1, 'test', 'beneficiary.created',
  jsonb_build_object('beneficiaryId', 'beneficiary_' || lpad(n::text, 26, '0'), 'name', 'Ada ' || n), 'request-' || n, now(),
  'key', 'key_1', 'beneficiaries.create', 'done', 'beneficiary_' || lpad(n::text, 26, '0'), '203.0.113.7', now()
from generate_series(1, $2::int) as n`

/** Seals what is not sealed yet. */
export async function sealAll({ databaseUrl }: Stage): Promise<void> {
  const database = openDatabase(databaseUrl, 2)
  const vault = openVault(ENCRYPTION_KEY, [])
  const signer = await openSigner({ sql: sqlOn(database.pool), vault, onFailure: () => undefined })
  while (await sealNextPage({ database, signer })) {}
  signer.stop()
  await database.close()
}

type Account = Awaited<ReturnType<typeof newOwner>>

/** An owner with this many payees, and as many sealed entries of the audit trail. */
export async function anAccount(stage: Stage, payees: number, events: number): Promise<Account> {
  const account = await newOwner(stage.api, 1)
  const { ownerId } = account
  await withClient(stage, async client => {
    await client.query('set session_replication_role = replica')
    await client.query(PAYEES, [ownerId, payees])
    await client.query(EVENTS, [ownerId, events])
    await client.query('vacuum analyze events, beneficiaries')
  })
  await sealAll(stage)
  return account
}

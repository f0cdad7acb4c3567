import { describe, expect, test } from '@jest/globals'
import { hashSecret } from '../../src/kernel/database/credential.ts'
import { schemaHistory } from '../../src/migrations/index.ts'
import { migrateDatabase, updateSchema } from '../../src/platform/schema.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { aDoorkeeper, approvePairing, s256 } from '../support/identity/pairing.ts'
import { isAccepted } from '../support/keys.ts'
import { withConnection } from '../support/rows.ts'

const VERIFIER = 'v'.repeat(43)

/** A person and the key of a paired terminal, terminals in each state that are named by it, and a device that waits. */
const WRITTEN = `
insert into customers (id, created_at, updated_at, name, email, type, country, plan, status, kyc_status)
values ('customer_1', now(), now(), 'Ada', 'ada@example.com', 'business', 'DE', 'free', 'active', 'none');
insert into people (owner_id, mode, id, created_at, updated_at, name, role, status, joined_at)
values ('customer_1', 'test', 'person_1', now(), now(), 'Ada', 'viewer', 'active', now());
insert into keys (id, owner_id, mode, created_at, updated_at, name, environment, hash, hint)
values ('key_1', 'customer_1', 'test', now(), now(), 'paired', 'sandbox', 'hash', '…');
insert into cli_pairings (id, owner_id, mode, created_at, updated_at, status, hash, code_challenge, pairing_code, device_name,
  address, client, expires_at, person_id, session_id, decided_at, scopes, tool_writes, key_id)
select 'pairing_' || name, case when is_decided then 'customer_1' else 'customer_house' end,
  case when is_decided then 'test' else 'live' end, now(), now(), status, encode(sha256(name::bytea), 'hex'), '${s256(VERIFIER)}',
  'WDJB-MJHT', name, '203.0.113.7', 'one', now() + interval '5 minutes', case when is_decided then 'person_1' end,
  case when is_decided then 'consolesession_1' end, case when is_decided then now() end,
  case when is_decided then '{agents:read,agents:write}'::text[] end, true, case when status = 'paired' then 'key_1' end
from (values ('pending', 'pending', false), ('foreign', 'pending', false), ('approved', 'approved', true),
  ('denied', 'denied', true), ('paired', 'paired', true), ('void', 'void', true), ('undecided', 'void', false)
) as one (name, status, is_decided);
insert into sessions (owner_id, mode, id, created_at, updated_at, status, hash, user_hash, device_id, device_name, client_type,
  client, interval_seconds, ends_at, forget_at)
values ('customer_house', 'live', 'session_1', now(), now(), 'requested', '${hashSecret('device')}', 'user', 'laptop-1', 'Laptop',
  'cli', 'one', 5, now() + interval '10 minutes', now() + interval '1 day')`

async function takenOver(databaseUrl: string): Promise<string> {
  await withConnection(databaseUrl, async client => {
    const migrations = schemaHistory().migrations.filter(({ name }) => name < '0049')
    await client.query('drop schema public cascade; create schema public; set check_function_bodies = off')
    await updateSchema(client, { migrations, stamps: [], released: {} })
    await client.query(WRITTEN)
  })
  await migrateDatabase(databaseUrl)
  return databaseUrl
}

const service = await startTestService({ own: true, through: takenOver })
const anyone = service.client()

const ask = (code: string, codeVerifier = VERIFIER) => anyone.cliAuth.token({ body: { code, codeVerifier } })

describe('the terminals of a database of an earlier version', () => {
  test('still wait, are approved, and fetch their key', async () => {
    expect(await ask('pending')).toMatchObject({ code: 'authorization_pending' })
    const person = await aDoorkeeper(service, await service.owner())
    const approved = await bodyOf(approvePairing(person.console.client, person.device, 'pending'))
    expect(approved).toMatchObject({ id: 'pairing_pending', status: 'approved', toolWrites: true })
    const { key } = await bodyOf(ask('pending'))
    expect(await isAccepted(service.client(String(key)))).toBe(true)
  })

  test('fetch their key once where they were approved before', async () => {
    const key = await bodyOf(ask('approved'))
    expect(key).toMatchObject({
      name: 'approved',
      personId: 'person_1',
      scopes: ['agents:read'],
      toolWrites: true,
    })
    expect((await service.client(String(key.key)).agents.list()).status).toBe(200)
    expect(await ask('approved')).toMatchObject({ code: 'invalid_grant' })
  })

  test.each([
    ['denied', 'access_denied'],
    ['paired', 'invalid_grant'],
    ['void', 'invalid_grant'],
    ['undecided', 'invalid_grant'],
  ])('get no key where they were %s: %s', async (terminal, refusal) => {
    expect(await ask(terminal)).toMatchObject({ code: refusal })
  })

  test('are void after a wrong verifier', async () => {
    expect(await ask('foreign', 'w'.repeat(43))).toMatchObject({ code: 'invalid_grant' })
    expect(await ask('foreign')).toMatchObject({ code: 'invalid_grant' })
  })

  test('are kept for an hour after their end', async () => {
    const [row] = await service.sql(
      `select count(*)::int as all, count(*) filter (where forget_at = ends_at + interval '1 hour')::int as kept
       from sessions where kind = 'pairing'`,
    )
    expect(row).toEqual({ all: 7, kept: 7 })
  })
})

test('the devices of a database of an earlier version still wait', async () => {
  const answer = await anyone.sessions.token({ body: { deviceCode: 'device' } })
  expect(answer).toMatchObject({ code: 'authorization_pending' })
})

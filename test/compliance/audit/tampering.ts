import { describe, expect, test } from '@jest/globals'
import { AuditRejected, verifyAudit, verifyAuditGrowth } from '../../../src/derive/client.ts'
import { newId } from '../../../src/values/ids.ts'
import { runCommand } from '../../support/command.ts'
import { tamperingOf } from '../../support/compliance/tampered.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { anAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const tampered = tamperingOf(service)
const owner = await service.owner()
const { ownerId, client, key } = owner
await anAgent(client)
await service.sql(
  `insert into events (id, owner_id, mode, agent_id, actor_type, actor_id, action, event, data, outcome, resource_id, request_id,
     run_id, created_at, recorded_at, address)
   select 'event_' || substr(id, 7), $1, 'test', 'agent_1', 'key', 'key_1', 'a.b', 'a.b',
     '{"n":1.25,"name":"Ada","list":[{"name":"Bob"}]}', 'done', 'x', 'r', 'run_1', now(), now(), '203.0.113.7'
   from unnest($2::text[]) as id`,
  [ownerId, Array.from({ length: 300 }, () => newId('event'))],
)
await sealTrail(service)
const kept = await bodyOf(client.audit.checkpoint())
await service.sql('create table trees_then as table audit_trees')
await anAgent(client)
await sealTrail(service)
const keys = (await service.http('GET', '/.well-known/jwks.json')).body

const verification = () => bodyOf(client.audit.verify())
const POSITION = 77
const theRow = `(select event_id from seals_between('${ownerId}', 'test', ${POSITION}, ${POSITION + 1}))`
const ofEvent = `where id = ${theRow}`
const ofSeal = `where owner_id = '${ownerId}' and mode = 'test' and position = ${POSITION}`

/** The first wrong position according to the service and to the offline tool. */
async function firstWrong(change: string) {
  return tampered(change, async () => {
    const { ok, problem } = await verification()
    const { text } = await service.http('GET', '/v1/audit/export', { token: key })
    const offline = await verifyAudit([text], { keys }).catch((error: unknown) => error)
    return {
      ok,
      position: problem?.position,
      offline: offline instanceof AuditRejected ? offline.position : 'accepted',
    }
  })
}

test('a trail that nobody has touched verifies', async () => {
  expect(await verification()).toMatchObject({
    ok: true,
    purged: 0,
    problem: null,
    checkpoint: (await bodyOf(client.audit.checkpoint())).note,
  })
})

test('agentpay audit verify exits with 1 where the stored trail was changed, and names the position', async () => {
  const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: key }
  const verify = () => runCommand(['audit', 'verify'], { env })
  expect(await verify()).toMatchObject({ code: 0, err: '' })
  const changed = await tampered(`update events set action = 'a.c' ${ofEvent}`, verify)
  expect(changed).toMatchObject({ code: 1, err: 'The verification has failed: the output says where.\n' })
  expect(JSON.parse(changed.out)).toMatchObject({ ok: false, problem: { position: POSITION } })
})

describe('the owner of the database', () => {
  const column = (name: string, value: string): string => `update events set ${name} = ${value} ${ofEvent}`
  const columns = {
    id: `'event_00000000000000000000000000'`,
    owner_id: `'customer_house'`,
    mode: `'live'`,
    agent_id: `'agent_2'`,
    event: `'a.c'`,
    request_id: `'s'`,
    run_id: 'null',
    created_at: `created_at + interval '1 ms'`,
    actor_type: `'dash'`,
    actor_id: `'key_2'`,
    action: `'a.c'`,
    outcome: `'don'`,
    resource_id: `'y'`,
    address: `'203.0.113.8'`,
    recorded_at: `recorded_at - interval '1 ms'`,
    audit_id: `'audit_1'`,
    written_in: 'written_in + 1',
  }
  test.each(Object.entries(columns))('cannot change %s of an entry unseen', async (name, value) => {
    expect(await firstWrong(column(name, value))).toEqual({
      ok: false,
      position: POSITION,
      offline: POSITION,
    })
  })

  const marks = ['same_request', 'same_agent', 'same_resource']
  test.each(marks)('cannot hide an entry from lists by %s', async name => {
    expect(await firstWrong(column(name, 'true'))).toEqual({
      ok: false,
      position: POSITION,
      offline: 'accepted',
    })
  })

  test('finds every column of an entry among those that are tried here', async () => {
    const rows = await service.sql<{ name: string }>(
      `select column_name as name from information_schema.columns where table_name = 'events'`,
    )
    // The members of an event's data are changed one by one below.
    expect(
      rows
        .map(({ name }) => name)
        .filter(name => !(name in columns))
        .sort(),
      // A trace is for operators: no entry shows it, and it proves nothing.
    ).toEqual(['data', 'traceparent', ...marks].sort())
  })

  test.each([
    ['a number', `jsonb_set(data, '{n}', '1.26')`],
    ['a digit beyond those of a number of JSON', `jsonb_set(data, '{n}', '1.2500000000000000000001')`],
    ['a name', `jsonb_set(data, '{name}', '"Eve"')`],
    ['a name within a list', `jsonb_set(data, '{list,0,name}', '"Eve"')`],
    ['a type', `jsonb_set(data, '{n}', '"1.25"')`],
    ['a member less', `data - 'n'`],
    ['a member more', `data || '{"m":1}'`],
    ['nothing of it', `'{}'`],
  ])('cannot change what an event told: %s', async (_, value) => {
    expect(await firstWrong(column('data', value))).toEqual({
      ok: false,
      position: POSITION,
      offline: POSITION,
    })
  })

  const seals = {
    'a leaf': `update seals set leaf = sha256('x') ${ofSeal}`,
    'a salt': `update seals set salts = jsonb_set(salts, '{address}', '"AAAAAAAAAAAAAAAAAAAAAA=="') ${ofSeal}`,
    'a salt that is taken away': `update seals set salts = salts - 'address' ${ofSeal}`,
    'a commitment': `update seals set commitments = jsonb_set(commitments, '{address}', '"x"') ${ofSeal}`,
    'a leaf within a range': `update audit_seals set leaves[${POSITION} - position + 1] = sha256('x')
       where owner_id = '${ownerId}' and mode = 'test' and ${POSITION} between position and position + cardinality(leaves) - 1`,
    'all commitments': `update seals set commitments = '{}', salts = '{}' ${ofSeal}`,
    'a seal that names another event': `update seals set event_id = 'event_0' ${ofSeal}`,
    'a seal in another trail': `update seals set mode = 'live' ${ofSeal}`,
    'an event removed': `delete from events ${ofEvent}`,
    'a seal removed': `delete from seals ${ofSeal}`,
    'an event and its seal removed': `delete from events ${ofEvent}; delete from seals ${ofSeal}`,
    'two entries swapped': `create temporary table two as select * from seals
         where owner_id = '${ownerId}' and mode = 'test' and position in (${POSITION}, ${POSITION + 1});
       delete from seals where event_id in (select event_id from two);
       update two set position = 2 * ${POSITION} + 1 - position; insert into seals select * from two`,
  }
  test.each(Object.entries(seals))('cannot hide %s', async (_, change) => {
    const found = await firstWrong(change)
    // A removed row is missed at its position; with a changed leaf, too, hashes of the tree locate it.
    expect(found).toMatchObject({ ok: false, position: POSITION })
    expect(found.offline).not.toBe('accepted')
  })

  test('cannot add an entry to what is sealed', async () => {
    const added = `insert into events select ('event_00000000000000000000000000'), owner_id, mode, agent_id, event, data, request_id,
      run_id, created_at, actor_type, actor_id, action, outcome, resource_id, address, recorded_at, audit_id, written_in
      from events ${ofEvent}`
    expect(await firstWrong(added)).toMatchObject({ ok: false, position: 0 })
  })

  test('cannot change a stored hash of the tree, or a checkpoint', async () => {
    const hash = `update audit_tiles set hashes = overlay(hashes placing sha256('x') from ${32 * POSITION + 1})
      where owner_id = '${ownerId}'`
    expect(await firstWrong(hash)).toMatchObject({ ok: false, position: POSITION })
    const root = `update audit_tiles set root = sha256('x') where owner_id = '${ownerId}'`
    expect(await firstWrong(root)).toMatchObject({ ok: false, position: 0 })
    const note = `update audit_checkpoints set note = translate(note, 'Aa', 'aA') where size = ${kept.size} and owner_id = '${ownerId}'`
    expect(await firstWrong(note)).toEqual({ ok: false, position: kept.size - 1, offline: kept.size - 1 })
    const moved = `update audit_checkpoints set size = 5 where size = ${kept.size} and owner_id = '${ownerId}'`
    expect(await firstWrong(moved)).toMatchObject({ ok: false })
    const newest = `delete from audit_checkpoints where size > ${kept.size} and owner_id = '${ownerId}' and mode = 'test'`
    expect(await firstWrong(newest)).toMatchObject({ ok: false, position: kept.size })
  })

  test('cannot change the tree to which the next entries are appended, or where a stored hash stands', async () => {
    const { size } = await bodyOf(client.audit.checkpoint())
    const of = `where owner_id = '${ownerId}' and mode = 'test'`
    const peaks = `update audit_trees set peaks = set_byte(peaks, 0, get_byte(peaks, 0) # 1) ${of}`
    expect(await firstWrong(peaks)).toMatchObject({ ok: false, position: size })
    const smaller = `update audit_trees set size = size - 1 ${of}`
    expect(await firstWrong(smaller)).toMatchObject({ ok: false, position: size - 1 })
    const moved = `update audit_tiles set index = index + 1 ${of}`
    expect(await firstWrong(moved)).toMatchObject({ ok: false, position: 0 })
  })

  test('cannot remove the oldest entries as if they were purged', async () => {
    const purge = `
      insert into audit_purges select owner_id, mode, 'purge_1', now(), '2015-01-01', 256, '', id from audit_checkpoints
        where owner_id = '${ownerId}' and mode = 'test' order by size limit 1;
      delete from events where id in (select event_id from seals
        where owner_id = '${ownerId}' and mode = 'test' and position < 256);
      delete from seals where owner_id = '${ownerId}' and mode = 'test' and position < 256`
    expect(await firstWrong(purge)).toMatchObject({ ok: false, position: 0 })
  })

  test('cannot take away the newest entries where somebody has kept a newer checkpoint', async () => {
    const newest = await bodyOf(client.audit.checkpoint())
    const behind = `where owner_id = '${ownerId}' and mode = 'test' and position >= ${kept.size}`
    const away = `
      delete from events where id in (select event_id from seals ${behind});
      delete from seals ${behind};
      delete from audit_checkpoints where owner_id = '${ownerId}' and mode = 'test' and size > ${kept.size};
      delete from audit_trees; insert into audit_trees select * from trees_then`
    await tampered(away, async () => {
      // It is an older, signed state, which only a newer checkpoint can disprove.
      expect(await verification()).toMatchObject({ ok: true, size: kept.size })
      const { text } = await service.http('GET', '/v1/audit/export', { token: key })
      await expect(verifyAudit([text], { keys, since: newest.note })).rejects.toMatchObject({
        position: kept.size,
      })
      const growth = await client.audit.consistency({ query: { from: newest.size } })
      expect(growth.code).toBe('beyond_trail')
    })
  })

  test('cannot prove the trail by a checkpoint of somebody else', async () => {
    const other = await service.owner()
    await sealTrail(service)
    const foreign = await bodyOf(other.client.audit.checkpoint())
    const { text } = await service.http('GET', '/v1/audit/export', { token: key })
    await expect(verifyAudit([text], { keys, since: foreign.note })).rejects.toThrow('another trail')
  })

  test('cannot write history anew and seal it, where somebody has kept an older checkpoint', async () => {
    const anew = `
      update events set outcome = 'refused' ${ofEvent};
      delete from audit_seals; delete from audit_tiles; delete from audit_checkpoints; delete from audit_trees;
      update audit_sealing set written_in = 0, id = '', open = '{}'`
    await tampered(anew, async () => {
      await sealTrail(service)
      expect(await verification()).toMatchObject({ ok: true })
      const { text } = await service.http('GET', '/v1/audit/export', { token: key })
      expect(await verifyAudit([text], { keys })).toMatchObject({ hidden: 0 })
      await expect(verifyAudit([text], { keys, since: kept.note })).rejects.toThrow('are not those')
      const growth = await bodyOf(client.audit.consistency({ query: { from: kept.size } }))
      expect(() => verifyAuditGrowth(kept.note, growth, keys)).toThrow(AuditRejected)
    })
  })
})

describe('a verification', () => {
  test('tells what is not sealed yet', async () => {
    const other = await service.owner()
    expect(await bodyOf(other.client.audit.verify())).toEqual({
      ok: true,
      size: 0,
      purged: 0,
      checkpoints: 0,
      checkpoint: null,
      problem: null,
      unsealed: { entries: 2, oldestAt: expect.any(String) },
    })
  })
})

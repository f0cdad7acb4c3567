import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { hashLeaf, openCheckpoint, provesConsistency, provesInclusion } from '../../../src/trail/index.ts'
import { newId } from '../../../src/values/ids.ts'
import { openSealer, sealTrail } from '../../support/compliance/trail.ts'
import { aKey, aLiveClient, anAgent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const jwks = async () => (await service.http('GET', '/.well-known/jwks.json')).body

const INSERT = `
insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at, recorded_at)
select 'event_' || substr(id, 7), $1, 'test', 'key', 'a.b', 'a.b', '{"n":1}', 'done', 'x', 'r', now(), now()
from unnest($2::text[]) as id`

const newIds = (count: number): string[] => Array.from({ length: count }, () => newId('event'))

const writeEntries = (ownerId: string, count: number) => service.sql(INSERT, [ownerId, newIds(count)])

interface Seal {
  readonly position: string
  readonly event_id: string
}

const sealsOf = (ownerId: string, mode = 'test') =>
  service.sql<Seal & pg.QueryResultRow>(
    'select position, event_id from seals_between($1, $2, 0, 1000000) order by position',
    [ownerId, mode],
  )

const AFTER = `
select id, written_in from tenant_events_after($1, 'test', $2, $3, 9223372036854775807, $4, $5) order by written_in, id`

/** What a stream that resumes reads in pages, without the transactions that are counted as open. */
async function readAfter(ownerId: string, countedOpen: readonly string[], most: number): Promise<string[]> {
  const found: string[] = []
  for (let at = ['0', ''], isMore = true; isMore; ) {
    const values = [ownerId, ...at, countedOpen, most]
    const page = await service.sql<{ id: string; written_in: string }>(AFTER, values)
    found.push(...page.map(({ id }) => id))
    const last = page.at(-1)
    if (last) at = [String(last.written_in), last.id]
    isMore = page.length === most
  }
  return found
}

/** The pages of a stream that resumes are all that the owner has, in the order of the journal. */
async function expectInOrder(ownerId: string): Promise<void> {
  const events = await service.sql<{ id: string; written_in: string }>(
    "select id, written_in from events where owner_id = $1 and mode = 'test' order by written_in, id",
    [ownerId],
  )
  const some = events.filter((_, n) => n % 3 === 0).map(({ written_in }) => String(written_in))
  const idsWithout = (open: readonly string[]) =>
    events.filter(({ written_in }) => !open.includes(String(written_in))).map(({ id }) => id)
  for (const most of [3, 7, 50])
    for (const open of [[], some.slice(1, 3)])
      expect(await readAfter(ownerId, open, most)).toEqual(idsWithout(open))
}

/** Every event of the owner has one position, without gaps. */
async function expectGapless(ownerId: string, count?: number): Promise<void> {
  const seals = await sealsOf(ownerId)
  expect(seals.map(({ position }) => Number(position))).toEqual(seals.map((_, n) => n))
  const events = await service.sql("select id from events where owner_id = $1 and mode = 'test'", [ownerId])
  expect(new Set(seals.map(seal => seal.event_id))).toEqual(new Set(events.map(({ id }) => id)))
  if (count !== undefined) expect(seals).toHaveLength(count)
  await expectInOrder(ownerId)
}

const sealer = await openSealer(service.databaseUrl)
afterAll(() => sealer.close())

describe('sealing', () => {
  test('gives each entry a place, and each tenant a tree', async () => {
    const owner = await service.owner()
    await anAgent(owner.client)
    const live = await aLiveClient(service, owner)
    await sealTrail(service)
    await expectGapless(owner.ownerId)
    const { data } = await bodyOf(owner.client.audit.list())
    const detail = await bodyOf(owner.client.audit.get({ params: { id: String(data[0]?.id) } }))
    expect(detail).toMatchObject({ ...data[0], data: { environment: 'live' } })
    expect(detail.position).toBeGreaterThan(0)
    const checkpoint = await bodyOf(owner.client.audit.checkpoint())
    expect(checkpoint.note.split('\n')[0]).toBe(`agentpay/audit/${owner.ownerId}/test`)
    const ofLive = await bodyOf(live.audit.checkpoint())
    expect(ofLive).toMatchObject({ size: 1, mode: 'live' })
  })

  test('is told where nothing is sealed yet', async () => {
    const { client } = await service.owner()
    expect((await client.audit.checkpoint()).code).toBe('trail_not_found')
    const [entry] = (await bodyOf(client.audit.list())).data
    const params = { id: String(entry?.id) }
    expect(await bodyOf(client.audit.get({ params }))).toMatchObject({ position: null })
    expect(await client.audit.proof({ params })).toMatchObject({ status: 409, code: 'not_sealed' })
    expect((await client.audit.consistency({ query: { from: 1 } })).code).toBe('beyond_trail')
  })

  test('does not wait for a transaction that is open, and seals what it has written once it has ended', async () => {
    const { ownerId } = await service.owner()
    await sealTrail(service)
    const late = new pg.Client({ connectionString: service.databaseUrl })
    await late.connect()
    await late.query('begin')
    const lateIds = newIds(3)
    await late.query(INSERT, [ownerId, lateIds])
    for (let round = 0; round < 3; round++) {
      await writeEntries(ownerId, 5)
      await sealer.seal()
    }
    const before = await sealsOf(ownerId)
    expect(before.length).toBeGreaterThanOrEqual(15)
    await expectInOrder(ownerId)
    await late.query('commit')
    await late.end()
    await expectInOrder(ownerId)
    await writeEntries(ownerId, 2)
    // Smaller batches than the number of events.
    while (await sealer.seal(2)) {}
    await expectGapless(ownerId, before.length + 5)
    const after = await sealsOf(ownerId)
    expect(after.slice(0, before.length)).toEqual(before)
    const added = after.slice(before.length).map(seal => seal.event_id)
    expect(added.filter(id => lateIds.includes(id))).toEqual(lateIds)
  })

  test('by two sealers at once, while others write, gives each entry one place', async () => {
    const { ownerId } = await service.owner()
    const second = await openSealer(service.databaseUrl)
    let isWriting = true
    const writing = Promise.all(
      [1, 2, 3].map(async () => {
        for (let n = 0; n < 20; n++) await writeEntries(ownerId, 17)
      }),
    ).finally(() => {
      isWriting = false
    })
    await Promise.all(
      [sealer, second].map(async one => {
        while (isWriting) await one.seal(50)
      }),
    )
    await writing
    await second.close()
    await sealTrail(service)
    await expectGapless(ownerId)
  })

  test('that is killed at any statement leaves nothing behind, and the next one goes on', async () => {
    const { ownerId } = await service.owner()
    await sealTrail(service)
    const statements = ['audit_seals', 'audit_tiles', 'audit_trees', 'audit_checkpoints', 'audit_sealing']
    for (const table of statements) {
      await writeEntries(ownerId, 300)
      await service.sql(
        `create function die() returns trigger language plpgsql as $$ begin
           perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
      )
      await service.sql(`create trigger die after insert or update on ${table} execute function die()`)
      const before = await sealsOf(ownerId)
      await expect(sealer.seal()).rejects.toThrow()
      await service.sql('drop function die cascade')
      expect(await sealsOf(ownerId)).toEqual(before)
    }
    await sealTrail(service)
    await expectGapless(ownerId)
  })
})

describe('a proof', () => {
  test('leads from each of many entries to the newest checkpoint, and from each checkpoint to it', async () => {
    const { ownerId, client } = await service.owner()
    for (const count of [1, 254, 3, 700]) {
      await writeEntries(ownerId, count)
      await sealTrail(service)
    }
    const keys = await jwks()
    const checkpoint = await bodyOf(client.audit.checkpoint())
    const { size, root } = openCheckpoint(checkpoint.note, keys)
    expect({ size, root: root.toString('base64') }).toEqual({ size: checkpoint.size, root: checkpoint.root })
    const seals = await sealsOf(ownerId)
    expect(size).toBe(seals.length)
    for (const n of [0, 1, 2, 255, 256, 257, 511, 512, size - 2, size - 1]) {
      const entryId = String(seals[n]?.event_id).replace('event', 'audit')
      const proven = await bodyOf(client.audit.proof({ params: { id: entryId } }))
      const leaf = hashLeaf(proven.leaf)
      expect(proven).toMatchObject({ entryId, position: n, size, leafHash: leaf.toString('base64') })
      const proof = proven.proof.map(hash => Buffer.from(hash, 'base64'))
      expect(provesInclusion({ index: n, size, leaf, proof }, root)).toBe(true)
    }
    const { data } = await bodyOf(client.audit.checkpoints({ query: { limit: 100 } }))
    expect(data.map(one => one.size)).toEqual(data.map(one => one.size).toSorted((a, b) => b - a))
    for (const older of data) {
      const shown = await bodyOf(client.audit.consistency({ query: { from: older.size } }))
      expect(shown).toMatchObject({
        fromRoot: older.root,
        toRoot: checkpoint.root,
        checkpoint: checkpoint.note,
      })
      const proof = shown.proof.map(hash => Buffer.from(hash, 'base64'))
      const fromRoot = openCheckpoint(older.note, keys).root
      expect(provesConsistency({ from: older.size, fromRoot, to: size, toRoot: root, proof })).toBe(true)
    }
  })

  test('is refused beyond the trail, and of an entry of somebody else', async () => {
    const [owner, stranger] = [await service.owner(), await service.owner()]
    await sealTrail(service)
    const [entry] = (await bodyOf(owner.client.audit.list())).data
    const params = { id: String(entry?.id) }
    for (const read of ['get', 'proof'] as const)
      expect((await stranger.client.audit[read]({ params })).code).toBe('entry_not_found')
    for (const query of [{ from: 9_999 }, { from: 2, to: 1 }, { from: 1, to: 9_999 }])
      expect((await owner.client.audit.consistency({ query })).code).toBe('beyond_trail')
    const answer = await owner.client.audit.consistency({ query: { from: 0 } })
    expect(answer).toMatchObject({ status: 400, error: expect.stringContaining('from') })
  })

  test('is for those who may read the trail', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const ofAgent = service.client(String((await aToken(client, agent.id)).token))
    expect((await ofAgent.audit.checkpoint()).code).toBe('wrong_caller')
    const narrow = service.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
    expect((await narrow.audit.checkpoints()).code).toBe('missing_scope')
  })
})

describe('a verification', () => {
  test('finds what was added behind ten thousand entries', async () => {
    const { ownerId, client } = await service.owner()
    await writeEntries(ownerId, 10_500)
    await sealTrail(service)
    const size = 10_500 + 2
    expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true, size })
    // As if it had existed before anything was sealed, which only the owner of the database can fake.
    await service.sql(
      `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at,
         written_in)
       values ($2, $1, 'test', 'key', 'a.b', 'a.b', '{}', 'done', 'x', 'r', now(), 0)`,
      [ownerId, newId('event')],
    )
    const { ok, problem } = await bodyOf(client.audit.verify())
    expect([ok, problem]).toEqual([
      false,
      { position: size, message: expect.stringContaining('was inserted into the sealed part') },
    ])
  })
})

describe('an audit search', () => {
  test('by agent and by outcome finds their entries', async () => {
    const { client } = await service.owner()
    const [one] = [await anAgent(client), await anAgent(client)]
    const ofOne = await bodyOf(client.audit.list({ query: { agentId: one.id } }))
    expect(new Set(ofOne.data.map(({ agentId }) => agentId))).toEqual(new Set([one.id]))
    expect((await bodyOf(client.audit.list({ query: { outcome: 'done' } }))).data.length).toBeGreaterThan(3)
    expect((await bodyOf(client.audit.list({ query: { outcome: 'not_found' } }))).data).toEqual([])
    expect((await client.audit.list({ query: { outcome: "'" } })).error).toContain('outcome')
  })
})

import { describe, expect, test } from '@jest/globals'
import { verifyAudit } from '../../../src/derive/client.ts'
import { firstIdAt, idInRow, newId } from '../../../src/values/ids.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { anAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ env: { AUDIT_RETENTION_DAYS: '1825' } })
const keys = (await service.http('GET', '/.well-known/jwks.json')).body

async function writeOld(ownerId: string, count: number, day = '2015-06-01'): Promise<void> {
  const at = new Date(`${day}T00:00:00.000Z`)
  const ids = Array.from({ length: count }, () => firstIdAt('event', at) + newId('event').slice(-16))
  await service.sql(
    `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at,
       recorded_at)
     select id, $1, 'test', 'key', 'long.ago', 'long.ago', '{"name":"Ada"}', 'done', 'x', 'r', $3, $3 from unnest($2::text[]) as id`,
    [ownerId, ids, at],
  )
}

const purge = (ownerId: string, before = '2016-01-01T00:00:00.000Z') =>
  service.dash.audit.purge({ body: { ownerId, mode: 'test', before } })

/** A call with four events about one record. */
async function writeOldCall(ownerId: string): Promise<void> {
  const at = new Date('2015-06-02T00:00:00.000Z')
  const first = firstIdAt('event', at) + newId('event').slice(-16)
  await service.sql(
    `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at,
       recorded_at, same_request, same_agent, same_resource)
     select id, $1, 'test', 'key', 'long.ago', 'long.ago', '{}', 'done', 'x', 'r', $3, $3, n > 1, n > 1, n > 1
     from unnest($2::text[]) with ordinality as one(id, n)`,
    [ownerId, [0, 1, 2, 3].map(place => idInRow(first, place)), at],
  )
}

/** An owner whose trail begins with old entries. */
async function anOldOwner(count: number, writeMore: (ownerId: string) => unknown = () => undefined) {
  const { ownerId, key, client } = await service.owner()
  // The service's own first entries are newer, so the owner moves to a trail that begins long ago.
  await service.sql(`alter table events disable trigger all`)
  await service.sql(`delete from events where owner_id = $1`, [ownerId])
  await service.sql(`alter table events enable trigger all`)
  await writeOld(ownerId, count)
  await writeMore(ownerId)
  await sealTrail(service)
  const kept = await bodyOf(client.audit.checkpoint())
  await anAgent(client)
  await sealTrail(service)
  return { ownerId, key, client, kept }
}

const exported = async (key: string): Promise<string> =>
  (await service.http('GET', '/v1/audit/export', { token: key })).text

describe('a purge', () => {
  test('of so many entries goes on to the end of the last call', async () => {
    const { ownerId, client } = await anOldOwner(2, writeOldCall)
    expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true })
    const purgeSome = async (most: number) => {
      const values = [ownerId, most, newId('purge')]
      const text = `select purge_audit($1, 'test', '2016-01-01', 1825, $2, $3)::int as size`
      return (await service.sql<{ size: number }>(text, values))[0]?.size
    }
    expect(await purgeSome(1)).toBe(1)
    expect(await purgeSome(2)).toBe(6)
    expect(await purgeSome(2)).toBe(6)
  })

  test.each([3, 256, 600])(
    'of %i old entries leaves all that is later as provable as it was',
    async count => {
      const { ownerId, key, client, kept } = await anOldOwner(count)
      expect(await bodyOf(purge(ownerId))).toMatchObject({ purged: count, size: count, hasMore: false })
      expect(await bodyOf(purge(ownerId))).toMatchObject({ purged: 0, size: count })
      const { data } = await bodyOf(client.audit.list({ query: { limit: 100 } }))
      expect(data[0]).toMatchObject({ event: 'audit.purged', actorType: 'dash' })
      expect(data.some(({ event }) => event === 'long.ago')).toBe(false)
      expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true, purged: count, problem: null })
      await anAgent(client)
      await sealTrail(service)
      const verification = await bodyOf(client.audit.verify())
      expect(verification).toMatchObject({ ok: true, purged: count })
      expect(await verifyAudit([await exported(key)], { keys })).toMatchObject({
        hidden: count,
        size: verification.size,
      })
      const growth = await bodyOf(client.audit.consistency({ query: { from: kept.size } }))
      expect(growth.fromRoot).toBe(kept.root)
      const id = String(data[1]?.id)
      expect((await bodyOf(client.audit.proof({ params: { id } }))).size).toBe(verification.size)
    },
  )

  test('that comes three times at once removes each entry once', async () => {
    const { ownerId, client } = await anOldOwner(300)
    const answers = await Promise.all(Array.from({ length: 3 }, () => bodyOf(purge(ownerId))))
    expect(answers.map(({ purged }) => purged).sort()).toEqual([0, 0, 300])
    const { data } = await bodyOf(client.events.list({ query: { event: 'audit.purged' } }))
    expect(data.map(event => Number(event.data.purged)).sort()).toEqual([0, 0, 300])
  })

  test('is told by timelines, and by what a request has sent: from when on they are complete', async () => {
    const { ownerId, client } = await anOldOwner(3)
    const { id: agentId } = await anAgent(client)
    const { id } = await bodyOf(client.runs.create({ body: { agentId, name: 'Run' } }))
    const params = { id }
    expect(await bodyOf(client.runs.timeline({ params }))).toMatchObject({ completeFrom: null })
    await bodyOf(purge(ownerId, '2016-01-01T00:00:00.000Z'))
    await bodyOf(purge(ownerId, '2015-12-01T00:00:00.000Z'))
    const completeFrom = '2016-01-01T00:00:00.000Z'
    const { data, ...rest } = await bodyOf(client.runs.timeline({ params }))
    expect([data.length, rest.completeFrom]).toEqual([1, completeFrom])
    const query = { requestId: String(data[0]?.requestId) }
    expect(await bodyOf(client.webhooks.allDeliveries({ query }))).toMatchObject({ completeFrom })
  })

  test('twice within a tile, and sealing beyond it, keeps the tree whole', async () => {
    const { ownerId, key, client } = await anOldOwner(10)
    await bodyOf(purge(ownerId))
    for (let n = 0; n < 3; n++) {
      await writeOld(ownerId, 150)
      await sealTrail(service)
      await bodyOf(purge(ownerId))
    }
    expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true })
    expect((await verifyAudit([await exported(key)], { keys })).hidden).toBeGreaterThanOrEqual(10)
  })

  test('of what is too young is refused, and what is not sealed stays', async () => {
    const { ownerId, client } = await anOldOwner(4)
    const young = new Date(Date.now() - 1_800 * 86_400_000).toISOString()
    expect(await purge(ownerId, young)).toMatchObject({ status: 400, code: 'too_young' })
    expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true, purged: 0 })
    await writeOld(ownerId, 2)
    expect(await bodyOf(purge(ownerId))).toMatchObject({ purged: 4 })
    expect((await bodyOf(client.audit.list({ query: { action: 'long.ago' } }))).data).toHaveLength(2)
  })

  test('is the operator’s, and the database refuses what the service would not ask', async () => {
    const { ownerId, client } = await anOldOwner(2)
    const body = { ownerId, mode: 'test', before: '2016-01-01T00:00:00.000Z' } as const
    expect((await client.audit.purge({ body })).code).toBe('wrong_caller')
    const nobody = { ...body, ownerId: 'customer_01jd8x2m4ye7k9v0c3q5r6t8wz' }
    expect((await service.dash.audit.purge({ body: nobody })).code).toBe('trail_not_found')
    await expect(service.sql(`select purge_audit($1, 'test', now(), 1, 10, 'x')`, [ownerId])).rejects.toThrow(
      'younger than the retention',
    )
    await expect(service.sql('delete from audit_seals')).rejects.toThrow('append-only')
    await expect(service.sql(`delete from events where owner_id = $1`, [ownerId])).rejects.toThrow(
      'append-only',
    )
  })

  test('while an export is on its way and the sealer works is seen by the export whole', async () => {
    const { ownerId, key, client } = await anOldOwner(1_500)
    const response = await fetch(`${service.url}/v1/audit/export`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const [, outcome] = await Promise.all([sealTrail(service), purge(ownerId)])
    expect(outcome.status).toBe(200)
    const text = await response.text()
    expect(await verifyAudit([text], { keys })).toMatchObject({ ownerId })
    expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true, purged: 1_500 })
  })
})

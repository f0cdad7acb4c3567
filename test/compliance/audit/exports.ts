import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  AuditRejected,
  verifyAudit,
  verifyAuditGrowth,
  verifyAuditProof,
} from '../../../src/derive/client.ts'
import { newId } from '../../../src/values/ids.ts'
import { runCommand } from '../../support/command.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aKey, anAgent, aPolicy, bodyOf, type TestClient } from '../../support/factories.ts'
import { type Owner, startTestService } from '../../support/harness.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'

const service = await startTestService({ own: true })
const jwks = async () => (await service.http('GET', '/.well-known/jwks.json')).body

async function exported({ key }: Pick<Owner<never>, 'key'>, query = ''): Promise<string> {
  const answer = await service.http('GET', `/v1/audit/export${query}`, { token: key })
  expect(answer.status).toBe(200)
  return answer.text
}

const linesOf = (text: string): string[] => text.split('\n').filter(line => line !== '')
const asText = (lines: readonly string[]): string[] => [`${lines.join('\n')}\n`]

async function anOwnerWithTrail() {
  const owner = await service.owner()
  const agent = await anAgent(owner.client)
  await sealTrail(service)
  const checkpoint = await bodyOf(owner.client.audit.checkpoint())
  await aPolicy(owner.client)
  for (let n = 0; n < 3; n++) {
    await owner.client.agents.freeze({ params: { id: agent.id } })
    await owner.client.agents.unfreeze({ params: { id: agent.id } })
  }
  await sealTrail(service)
  return { ...owner, agent, kept: checkpoint }
}

const sizeOf = async (client: TestClient): Promise<number> => (await bodyOf(client.audit.checkpoint())).size

describe('an export as NDJSON', () => {
  test('answers HEAD with the headers of GET, and is not in the trail then', async () => {
    const owner = await anOwnerWithTrail()
    const ask = (method: string) => service.http(method, '/v1/audit/export', { token: owner.key })
    const exportsIn = async () =>
      (await bodyOf(owner.client.audit.list({ query: { action: 'audit.export' } }))).data.length
    const head = await ask('HEAD')
    expect([head.status, head.text, await exportsIn()]).toEqual([200, '', 0])
    const whole = await ask('GET')
    for (const name of ['content-type', 'content-disposition', 'cache-control'])
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)])
    expect(await exportsIn()).toBe(1)
  })

  test('has every sealed entry, verifies without the service, and is in the trail itself', async () => {
    const owner = await anOwnerWithTrail()
    const keys = await jwks()
    const text = await exported(owner)
    const size = await sizeOf(owner.client)
    const verified = await verifyAudit([text], { keys, since: owner.kept.note })
    expect(verified).toMatchObject({
      ownerId: owner.ownerId,
      mode: 'test',
      entries: size,
      size,
      hidden: 0,
      isWithOwnKeys: true,
      since: owner.kept.note,
    })
    const entries = linesOf(text)
      .map(line => JSON.parse(line))
      .filter(({ type }) => type === 'entry')
    const { data } = await bodyOf(owner.client.audit.list({ query: { limit: 100 } }))
    expect(data[0]).toMatchObject({ action: 'audit.export', event: 'audit.exported', actorType: 'key' })
    expect(entries.map(({ entry }) => entry.id).toReversed()).toEqual(data.slice(1).map(({ id }) => id))
    expect(entries.at(-1).entry).toMatchObject({ address: '127.0.0.1', at: data[1]?.at })
  })

  test('of a period has its entries, and hashes in place of all others', async () => {
    const owner = await anOwnerWithTrail()
    const { data } = await bodyOf(owner.client.audit.list({ query: { limit: 100 } }))
    const [from, to] = [data[5]?.at, data[2]?.at]
    const wanted = data.filter(({ at }) => at >= String(from) && at < String(to))
    const text = await exported(owner, `?from=${from}&to=${to}`)
    const verified = await verifyAudit([text], { keys: await jwks() })
    expect(verified).toMatchObject({ entries: wanted.length, hidden: data.length - wanted.length })
    const none = await exported(owner, '?from=2020-01-01T00:00:00.000Z&to=2020-01-02T00:00:00.000Z')
    expect(await verifyAudit([none])).toMatchObject({ entries: 0, isWithOwnKeys: false })
    await expect(verifyAudit([none], { since: owner.kept.note })).rejects.toThrow('GET /audit/consistency')
  })

  test('verifies with an entry whose id happens to spell its own prefix', async () => {
    const { ownerId, client, key } = await service.owner()
    await service.sql(
      `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at)
       values ($2, $1, 'test', 'key', 'a.b', 'a.b', '{}', 'done', 'x', 'r', now())`,
      [ownerId, `${newId('event').slice(0, -5)}event`],
    )
    await sealTrail(service)
    expect((await verifyAudit([await exported({ key })])).entries).toBe(await sizeOf(client))
  })

  test('may come in any pieces', async () => {
    const owner = await anOwnerWithTrail()
    const bytes = Buffer.from(await exported(owner))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) =>
      bytes.subarray(7 * n, 7 * n + 7),
    )
    expect((await verifyAudit(pieces)).size).toBeGreaterThan(5)
  })

  test('is rejected where a line is changed, removed, added, doubled or swapped, and names the position', async () => {
    const owner = await anOwnerWithTrail()
    const keys = await jwks()
    const lines = linesOf(await exported(owner))
    const rejection = async (changed: readonly string[]) => {
      const error = await verifyAudit(asText(changed), { keys }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(AuditRejected)
      return (error as AuditRejected).position
    }
    for (const [n, line] of lines.entries()) {
      const { type, position } = JSON.parse(line)
      if (type !== 'entry') continue
      expect(await rejection(lines.toSpliced(n, 1))).toBe(position)
      expect(await rejection(lines.toSpliced(n, 0, line))).toBe(position + 1)
      const next = lines.findIndex((other, at) => at > n && other.includes('"type":"entry"'))
      if (next > 0)
        expect(await rejection(lines.with(n, String(lines[next])).with(next, line))).toBe(position)
      for (const [from, to] of [
        ['"action":"', '"action":"x'],
        ['"at":"2', '"at":"3'],
        ['"outcome":"done"', '"outcome":"done "'],
        ['"runId":null', '"runId":"run_1"'],
        ['"data":{', '"data":{"more":1,'],
        ['"leaf":"', '"leaf":"A'],
        ['"writtenIn":"', '"writtenIn":"1'],
      ])
        expect(await rejection(lines.with(n, line.replace(String(from), String(to))))).toBe(position)
    }
    expect(await rejection(lines.slice(0, 2))).not.toBeNull()
    expect(await rejection([...lines, String(lines[1])])).not.toBeNull()
    expect(await rejection(lines.slice(1))).toBeNull()
    expect(await rejection([])).toBeNull()
  })

  test('is rejected with any single character changed', async () => {
    const { key } = await service.owner()
    await sealTrail(service)
    const text = await exported({ key })
    const keys = await jwks()
    let checked = 0
    for (let at = 0; at < text.length; at += 3) {
      const other = text[at] === '0' ? '1' : '0'
      const changed = text.slice(0, at) + other + text.slice(at + 1)
      const outcome = await verifyAudit([changed], { keys }).then(
        () => 'accepted',
        (error: unknown) => error,
      )
      if (outcome === 'accepted') {
        // The export's unsealed metadata: its period and the keys it contains.
        expect(text.slice(0, text.indexOf('\n')).length).toBeGreaterThan(at)
      } else {
        expect(outcome).toBeInstanceOf(AuditRejected)
        checked++
      }
    }
    expect(checked).toBeGreaterThan(300)
  })

  test('is refused before anything is sealed, and to those who may not read the trail', async () => {
    const { client, key } = await service.owner()
    const first = await service.http('GET', '/v1/audit/export', { token: key })
    expect([first.status, first.headers.get('x-error-code')]).toEqual([404, 'trail_not_found'])
    const narrow = String((await aKey(client, { scopes: ['agents:read'] })).key)
    expect((await service.http('GET', '/v1/audit/export', { token: narrow })).status).toBe(403)
    const wrong = await service.http('GET', '/v1/audit/export?format=xml', { token: key })
    expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringContaining('format')])
  })
})

describe('an export as CSV', () => {
  test('has a line for each entry, in which no spreadsheet finds a formula', async () => {
    const owner = await service.owner()
    await anAgent(owner.client)
    await service.http('GET', '/v1/agents', { token: owner.key })
    await service.sql(
      `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at,
         recorded_at)
       values ('event_01jd8x2m4ye7k9v0c3q5r6t8wz', $1, 'test', 'key', 'a.b', 'a.b', '{"name":"a,\\"b\\""}', 'done',
         '=1+1', '@sum', now(), now())`,
      [owner.ownerId],
    )
    await sealTrail(service)
    const text = await exported(owner, '?format=csv')
    const lines = text.split('\r\n')
    expect(lines[0]).toBe(
      'position,at,action,event,outcome,resourceId,actorType,actorId,address,agentId,runId,requestId,createdAt,id,data,leaf',
    )
    expect(lines).toHaveLength((await sizeOf(owner.client)) + 2)
    expect(text).toContain(`"'=1+1"`)
    expect(text).toContain(`"'@sum"`)
    expect(text).toContain('"{""name"":""a,\\""b\\""""}"')
  })
})

describe('the typed client', () => {
  test('verifies a proof and a growth, and rejects those that are changed', async () => {
    const owner = await anOwnerWithTrail()
    const keys = await jwks()
    const [entry] = (await bodyOf(owner.client.audit.list({ query: { action: 'policies.*' } }))).data
    const proof = await bodyOf(owner.client.audit.proof({ params: { id: String(entry?.id) } }))
    expect(verifyAuditProof(proof, keys)).toMatchObject({ id: entry?.id, action: 'policies.create' })
    for (const wrong of [
      { leaf: proof.leaf.replace('policies', 'policie5') },
      { position: Number(proof.position) + 1 },
      { proof: proof.proof.slice(1) },
      { checkpoint: owner.kept.note },
    ])
      expect(() => verifyAuditProof({ ...proof, ...wrong }, keys)).toThrow(AuditRejected)
    const { size, note } = owner.kept
    const growth = await bodyOf(owner.client.audit.consistency({ query: { from: size } }))
    expect(verifyAuditGrowth(note, growth, keys)).toBe(growth.to)
    expect(() => verifyAuditGrowth(note, { ...growth, proof: growth.proof.slice(1) }, keys)).toThrow(
      AuditRejected,
    )
  })
})

describe('agentpay audit', () => {
  test('exports, and verifies what was exported without any network', async () => {
    const owner = await anOwnerWithTrail()
    const cwd = temporaryFolder()
    const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: owner.key }
    const online = (...argv: string[]) => runCommand(['audit', ...argv], { cwd, env })
    expect(await online('export', '-o', 'audit.ndjson')).toMatchObject({ code: 0 })
    expect(await online('export', '--format', 'csv', '-o', 'audit.csv')).toMatchObject({ code: 0 })
    expect((await online('verify')).out).toContain('"ok": true')
    writeFileSync(join(cwd, 'morning.json'), JSON.stringify(owner.kept))

    const offline = (...argv: string[]) => runCommand(['audit', 'verify', ...argv], { cwd })
    const withItsOwnKeys = await offline('audit.ndjson', '--since', 'morning.json')
    expect(withItsOwnKeys).toMatchObject({ code: 0, out: expect.stringContaining('"ok": true') })
    expect(withItsOwnKeys.err).toContain('agentpay signing-keys jwks')
    writeFileSync(join(cwd, 'jwks.json'), JSON.stringify(await jwks()))
    expect(await offline('audit.ndjson', '--since', 'morning.json')).toMatchObject({ code: 0, err: '' })

    const text = readFileSync(join(cwd, 'audit.ndjson'), 'utf8')
    writeFileSync(
      join(cwd, 'flipped.ndjson'),
      text.replace('"event":"agent.frozen"', '"event":"agent.frozeN"'),
    )
    const flipped = await offline('flipped.ndjson')
    expect(flipped).toMatchObject({ code: 1, err: expect.stringMatching(/First wrong position: \d+/) })
    expect(await offline('audit.csv')).toMatchObject({ code: 1 })
    expect(await offline('nothing.ndjson')).toMatchObject({ code: 2 })
    writeFileSync(join(cwd, 'other.json'), JSON.stringify({ keys: [] }))
    expect(await offline('audit.ndjson', '--keys', 'other.json')).toMatchObject({ code: 1 })
  })
})

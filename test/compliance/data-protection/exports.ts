import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import sharp from 'sharp'
import type { areas } from '../../../src/areas.ts'
import { DASHBOARD_SECRET, type Owner } from '../../support/harness.ts'
import { aPerson } from '../../support/identity/people.ts'
import { service } from './service.ts'
import { unzipped } from './unzip.ts'

type AnOwner = Owner<typeof areas>

async function download(key: string, id: string): Promise<Buffer> {
  const response = await fetch(`${service.url}/gdpr/exports/${id}/archive`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip'])
  return Buffer.from(await response.arrayBuffer())
}

/** Advances the owner's clock, which carries out what is due without a worker. */
const advance = (key: string, body: object) =>
  service.http('POST', '/simulate/clock/advance', { token: key, body })

async function readyExport({ key }: AnOwner, body: object = {}): Promise<string> {
  const made = await service.http('POST', '/gdpr/exports', { token: key, body })
  expect(made.body).toMatchObject({ status: 'requested', records: null })
  await advance(key, { seconds: 1 })
  const { body: ready } = await service.http('GET', `/gdpr/exports/${made.body.id}`, { token: key })
  expect(ready).toMatchObject({ status: 'ready', records: expect.any(Number) })
  return ready.id
}

const read = (files: Map<string, Buffer>, name: string) => JSON.parse(String(files.get(name) ?? 'null'))

const post = async ({ key }: AnOwner, path: string, body: object) =>
  (await service.http('POST', path, { token: key, body })).body

const IBAN = 'DE89370400440532013000'
const payee = { name: 'Mark Bene', iban: IBAN, email: 'bene@example.com' }

describe('an export', () => {
  test('holds records by area, a sentence for each member, files and the digest of each', async () => {
    const owner = await service.owner()
    await post(owner, '/people', { name: 'Mark Person', email: 'person@example.com', role: 'viewer' })
    await post(owner, '/beneficiaries', payee)
    const files = unzipped(await download(owner.key, await readyExport(owner)))
    const people = read(files, 'people/people.json')
    expect(people).toMatchObject({ area: 'People', table: 'people' })
    expect(people.records).toMatchObject([{ name: 'Mark Person', email: 'person@example.com' }])
    expect(Object.keys(people.members).sort()).toEqual(Object.keys(people.records[0]).sort())
    expect(people.members.email).toMatchObject({ kind: 'contact', sentence: expect.stringMatching(/\.$/) })
    expect(read(files, 'customers/customers.json').records).toMatchObject([{ id: owner.ownerId }])
    expect(read(files, 'beneficiaries/beneficiaries.json').records).toMatchObject([{ iban: IBAN }])
    const { files: listed } = read(files, 'manifest.json')
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(
      [...files.keys()].filter(name => name !== 'manifest.json'),
    )
    for (const { name, sha256, bytes } of listed) {
      const content = files.get(name) ?? Buffer.alloc(0)
      expect([bytes, sha256]).toEqual([content.length, createHash('sha256').update(content).digest('hex')])
    }
  })

  test('returns the open export for repeated and concurrent requests until it expires', async () => {
    const owner = await service.owner()
    const person = await post(owner, '/people', {
      name: 'Mark Person',
      email: 'p@example.com',
      role: 'viewer',
    })
    const ask = (body: object) => service.http('POST', '/gdpr/exports', { token: owner.key, body })
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask({})))
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([202])
    const ids = new Set(answers.map(({ body }) => body.id))
    expect(ids.size).toBe(1)
    const [id] = ids
    const ofPerson = await ask({ subject: { type: 'person', id: person.id } })
    expect(ofPerson).toMatchObject({ status: 202, body: { status: 'requested' } })
    expect(ofPerson.body.id).not.toBe(id)
    await advance(owner.key, { seconds: 1 })
    expect(await ask({})).toMatchObject({ status: 202, body: { id, status: 'ready' } })
    await advance(owner.key, { days: 8 })
    const next = await ask({})
    expect(next).toMatchObject({ status: 202, body: { status: 'requested' } })
    expect(next.body.id).not.toBe(id)
  })

  test('holds uploaded files as they came, and names those that are away', async () => {
    const owner = await service.owner()
    const content = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#123' } })
      .png()
      .toBuffer()
    const body = { kind: 'passport', file: content.toString('base64') }
    const { id } = await post(owner, '/kyc/documents', body)
    const sha256 = createHash('sha256').update(content).digest('hex')
    const exportId = await readyExport(owner)
    const files = unzipped(await download(owner.key, exportId))
    expect(files.get(`files/${sha256}.png`)?.equals(content)).toBe(true)
    expect(read(files, 'kyc/kyc_documents.json').records).toMatchObject([{ id, sha256 }])
    rmSync(join(service.filesDir, owner.ownerId), { recursive: true })
    const without = unzipped(await download(owner.key, exportId))
    expect(read(without, 'manifest.json').missing).toEqual([sha256])
    expect(read(without, 'kyc/kyc_documents.json').records).toHaveLength(1)
  })

  test('gives out no secret and nothing of another owner', async () => {
    const [owner, other] = [await service.owner(), await service.owner()]
    await post(other, '/beneficiaries', { ...payee, name: 'Somebody Else' })
    const files = unzipped(await download(owner.key, await readyExport(owner)))
    const text = [...files.values()].join('')
    expect(text).not.toContain('Somebody Else')
    expect(text).not.toContain(other.ownerId)
    const keys = read(files, 'keys/keys.json')
    expect(keys.records).toMatchObject([{ environment: 'sandbox' }])
    expect([keys.members.hash, keys.records[0].hash]).toEqual([undefined, undefined])
    const [{ hash } = { hash: '' }] = await service.sql<{ hash: string }>(
      'select hash from keys where owner_id = $1',
      [owner.ownerId],
    )
    expect(text).not.toContain(hash)
  })

  test('about a person, a beneficiary or a payer holds what is about them', async () => {
    const owner = await service.owner()
    const made = await post(owner, '/beneficiaries', payee)
    await post(owner, '/beneficiaries', { ...payee, name: 'Another Payee', iban: 'DE75512108001245126199' })
    const subject = { type: 'beneficiary', id: made.id }
    const files = unzipped(await download(owner.key, await readyExport(owner, { subject })))
    expect(read(files, 'beneficiaries/beneficiaries.json').records).toMatchObject([{ name: 'Mark Bene' }])
    expect([...files.values()].join('')).not.toContain('Another Payee')
    expect(read(files, 'manifest.json').subject).toEqual(subject)
  })

  test('about a person holds what that person has decided, and nothing of another one', async () => {
    const owner = await service.owner()
    const person = await post(owner, '/people', { name: 'Mark Person', role: 'viewer' })
    await post(owner, '/people', { name: 'Another Person', role: 'viewer' })
    const subject = { type: 'person', id: person.id }
    const files = unzipped(await download(owner.key, await readyExport(owner, { subject })))
    expect(read(files, 'people/people.json').records).toMatchObject([{ name: 'Mark Person' }])
    const events: { event: string }[] = read(files, 'events/events.json').records
    expect(events.map(({ event }) => event)).toContain('person.invited')
    const text = [...files.values()].join('')
    expect(text).not.toContain('Another Person')
    expect(text).not.toContain('"hash"')
  })

  test('about a person holds their deputies, and for whom they are one', async () => {
    const owner = await service.owner()
    const [ada, bob, eve] = await Promise.all(
      Array.from({ length: 3 }, async () => (await aPerson(service, owner, { role: 'approver' })).id),
    )
    const [from, until] = [1, 8].map(days => new Date(Date.now() + days * 86_400_000).toISOString())
    for (const [id, deputyId] of [
      [ada, bob],
      [bob, eve],
    ])
      await post(owner, `/people/${id}/deputies`, { deputyId, from, until })
    const recordsOf = async (id?: string) => {
      const subject = { type: 'person', id }
      const files = unzipped(await download(owner.key, await readyExport(owner, { subject })))
      const records: { personId: string; deputyId: string }[] = read(files, 'deputies/deputies.json').records
      return records.map(({ personId, deputyId }) => [personId, deputyId])
    }
    expect(await recordsOf(bob)).toEqual(
      expect.arrayContaining([
        [ada, bob],
        [bob, eve],
      ]),
    )
    expect(await recordsOf(eve)).toEqual([[bob, eve]])
  })

  test('of a subject that is not there, or is another owner’s, is refused', async () => {
    const [owner, other] = [await service.owner(), await service.owner()]
    const { id } = await post(other, '/people', { name: 'Mark Person', role: 'viewer' })
    for (const subject of [
      { type: 'person', id },
      { type: 'beneficiary', id: 'beneficiary_none' },
      { type: 'payer', id: 'x' },
    ]) {
      const answer = await service.http('POST', '/gdpr/exports', { token: owner.key, body: { subject } })
      expect([answer.status, answer.body.error]).toEqual([404, expect.stringContaining('subject: no such')])
    }
    const mine = await readyExport(owner)
    const operator = { 'x-dashboard-secret': DASHBOARD_SECRET, 'x-owner-id': owner.ownerId }
    for (const path of [`/gdpr/exports/${mine}`, `/gdpr/exports/${mine}/archive`]) {
      expect((await service.http('GET', path, { token: other.key })).status).toBe(404)
      // The operator can only ask about merchants, not see an owner's export.
      expect((await service.http('GET', path, { headers: operator })).status).toBe(404)
    }
  })

  test('is there for seven days of the owner’s clock, and under its other name', async () => {
    const owner = await service.owner()
    const early = await post(owner, '/gdpr/export', {})
    const path = `/gdpr/export/${early.id}/archive`
    const refusalAt = async (address: string): Promise<string> =>
      (await service.http('GET', address, { token: owner.key })).body.error
    expect(await refusalAt(path)).toContain('is not ready yet')
    await advance(owner.key, { seconds: 1 })
    await advance(owner.key, { days: 6 })
    const head = await service.http('HEAD', path, { token: owner.key })
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'application/zip'])
    const downloads = () =>
      service.sql(`select from events where event = 'gdpr.export_downloaded' and owner_id = $1`, [
        owner.ownerId,
      ])
    expect(await downloads()).toHaveLength(0)
    await download(owner.key, early.id)
    expect(await downloads()).toHaveLength(1)
    await advance(owner.key, { days: 2 })
    expect(await refusalAt(path)).toContain('expired after seven days')
    const { body } = await service.http('GET', `/gdpr/exports/${early.id}`, { token: owner.key })
    expect(body).toMatchObject({ status: 'expired', subject: { type: 'owner', id: owner.ownerId } })
    const events = await service.http('GET', '/events', { token: owner.key })
    expect(events.body.data.map((event: { event: string }) => event.event)).toEqual(
      expect.arrayContaining(['gdpr.export_requested', 'gdpr.export_ready']),
    )
  })

  test('of a table with many records is read page by page, each record once', async () => {
    const owner = await service.owner()
    await service.sql(
      `insert into beneficiaries (id, owner_id, mode, created_at, updated_at, name, sepa_name, iban, country)
       select 'beneficiary_' || lpad(n::text, 26, '0'), $1, 'test', now(), now(), 'Payee ' || n, 'Payee ' || n,
         'DE' || lpad(n::text, 20, '0'), 'DE' from generate_series(1, 2500) as n`,
      [owner.ownerId],
    )
    const files = unzipped(await download(owner.key, await readyExport(owner)))
    const { records } = read(files, 'beneficiaries/beneficiaries.json')
    expect(new Set(records.map(({ name }: { name: string }) => name)).size).toBe(2_500)
    expect(records).toHaveLength(2_500)
  })
})

import { createHash } from 'node:crypto'
import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { z } from 'zod'
import { openSigner } from '../../src/app/signer.ts'
import { areas } from '../../src/areas.ts'
import { verifySigned } from '../../src/derive/client.ts'
import { area } from '../../src/kernel/contract/area.ts'
import { bindHandlers, post } from '../../src/kernel/contract/operation.ts'
import { sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { openVault, type Vault } from '../../src/ports/vault.ts'
import { statusCounts, times } from '../support/at-once.ts'
import { bodyOf } from '../support/factories.ts'
import { ENCRYPTION_KEY, http, startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { openWorkerRuntime } from '../support/worker-runtime.ts'

const TYPE = 'statement'
const claims = { ownerId: 'customer_1', mode: 'test', amountEuros: 9.5 } as const

const statementsApi = {
  sign: post('/statements', {
    summary: 'Sign a statement',
    callers: ['public'],
    returns: [201, z.object({ jws: z.string() })],
  }),
}

/** Signs in a transaction of the service, as evidence and receipts are. */
const statements = bindHandlers(statementsApi, {
  async sign(_, { systems, sql }) {
    await sql('select 1 as one')
    return { jws: systems.signer.sign(TYPE, claims) }
  },
})

const service = await startTestService({
  areas: { ...areas, statements: area('Statements', 'For the tests.', statements) },
  env: { DATABASE_POOL: '2' },
})
const { dash } = service
const ending = new AbortController()
const waiting = { tell: () => undefined, signal: ending.signal }
const endingRuntime = await openWorkerRuntime(service, {}, { waiting })
const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 })
const opened: { stop(): void }[] = []
afterAll(async () => {
  for (const signer of opened) signer.stop()
  await pool.end()
})

/** Opens the keys as another process does, in which reading them may fail. */
async function anotherProcess(vault: Vault = openVault(ENCRYPTION_KEY)) {
  const failures: string[] = []
  const onFailure = (error: unknown) => failures.push(String(error))
  const signer = await openSigner({ sql: sqlOn(pool), vault, onFailure })
  opened.push(signer)
  return { ...signer, failures }
}

const statementOf = async (url = service.url): Promise<string> =>
  (await http(url, 'POST', '/statements', {})).body.jws

const jwks = () => bodyOf(service.client().signingKeys.jwks())
const kidOf = (jws: string): string =>
  JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()).kid
const currentKid = async (): Promise<string> => (await jwks()).keys[0]?.kid ?? ''

describe('the signing keys', () => {
  test('are made once, even by processes that start at the same moment, and the private one is sealed', async () => {
    await service.sql('delete from signing_keys')
    const signers = await Promise.all(Array.from({ length: 8 }, () => anotherProcess()))
    const kids = await Promise.all(signers.map(async ({ sign }) => kidOf(sign(TYPE, claims))))
    expect(new Set(kids).size).toBe(1)
    const rows = await service.sql('select kid, x, private_key as sealed from signing_keys')
    expect(rows).toEqual([{ kid: kids[0], x: expect.any(String), sealed: expect.any(String) }])
    const thumbprint = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${rows[0]?.x}"}`)
    expect(kids[0]).toBe(thumbprint.digest('base64url'))
    expect(openVault(ENCRYPTION_KEY).open(rows[0]?.sealed, `signing-key:${kids[0]}`)).toMatch(
      /^-----BEGIN PRIVATE KEY-----/,
    )
    await until('the service signs with it', async () => kidOf(await statementOf()) === kids[0])
  })

  test('are public only by their public halves', async () => {
    const { status, headers, body } = await http(service.url, 'GET', '/.well-known/jwks.json', {})
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    const [key] = body.keys
    expect(key).toEqual({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: key.kid, x: key.x })
  })

  test('sign in a transaction without another connection', async () => {
    const answers = await times(20, () => http(service.url, 'POST', '/statements', {}))
    expect(statusCounts(answers)).toEqual({ 201: 20 })
    const { sign } = await anotherProcess()
    const only = await pool.connect()
    const jws = sign(TYPE, claims)
    only.release()
    expect(verifySigned(jws, await jwks(), TYPE)).toEqual(claims)
  })
})

describe('a rotation', () => {
  test('is not read by a process that ends, as its database may be away', async () => {
    const lasting = await anotherProcess()
    ending.abort()
    const before = endingRuntime.ports.systems.signer.publicKeys()
    for (const _ of [1, 2]) {
      const { body } = await dash.signingKeys.rotate()
      await until('another process knows it', () => lasting.publicKeys()[0]?.kid === body.kid)
    }
    expect(endingRuntime.ports.systems.signer.publicKeys()).toEqual(before)
  })

  test('is a new key in every process, and what the old one has signed stays valid', async () => {
    const elsewhere = await service.another()
    const silent = await anotherProcess()
    const before = await statementOf()
    const { status, body } = await dash.signingKeys.rotate()
    expect([status, body.retiredAt]).toEqual([201, null])
    expect(body.kid).not.toBe(kidOf(before))
    for (const url of [service.url, elsewhere])
      await until('the new key signs', async () => kidOf(await statementOf(url)) === body.kid)
    await until('the key is known where nothing happens', () => silent.publicKeys()[0]?.kid === body.kid)
    const keys = await jwks()
    expect(keys.keys.map(({ kid }) => kid).slice(0, 2)).toEqual([body.kid, kidOf(before)])
    for (const jws of [before, await statementOf()]) {
      expect(verifySigned(jws, keys, TYPE)).toEqual(claims)
      expect(await silent.verify(TYPE, jws)).toEqual(claims)
    }
  })

  test('is known at once to the process that gets a statement of the new key', async () => {
    const slow = await anotherProcess()
    expect(await slow.verify(TYPE, await statementOf())).toEqual(claims)
    const { kid } = await bodyOf(dash.signingKeys.rotate())
    const signer = await anotherProcess()
    const jws = signer.sign(TYPE, claims)
    expect(kidOf(jws)).toBe(kid)
    const stranger = jws.replace(
      /^[^.]+/,
      Buffer.from(`{"alg":"EdDSA","kid":"x","typ":"${TYPE}"}`).toString('base64url'),
    )
    const [unknown, ...known] = await Promise.all([stranger, jws, jws].map(one => slow.verify(TYPE, one)))
    expect([unknown, ...known]).toEqual([undefined, claims, claims])
    expect(await slow.verify('another', jws)).toBeUndefined()
    expect(await slow.verify(TYPE, `${jws.slice(0, -4)}AAAA`)).toBeUndefined()
  })

  test('deletes the private half of the old key, and is in the journal', async () => {
    const { data: before } = await bodyOf(dash.signingKeys.list({}))
    const key = await bodyOf(dash.signingKeys.rotate())
    const { data } = await bodyOf(dash.signingKeys.list({}))
    expect(data[0]).toEqual(key)
    expect(data[1]).toEqual({
      ...before[0],
      retiredAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(data).toHaveLength(before.length + 1)
    const kept = await service.sql('select kid from signing_keys where private_key is not null')
    expect(kept).toEqual([{ kid: key.kid }])
    const events = await service.sql(
      `select actor_type as actor, action, data from events where event = 'signing_key.rotated'
       order by id desc limit 1`,
    )
    const told = { signingKeyId: key.id, kid: key.kid, replacedKid: before[0]?.kid }
    expect(events).toEqual([{ actor: 'dash', action: 'signingKeys.rotate', data: told }])
  })

  test('by many at once leaves one current key and loses none', async () => {
    const { length } = (await jwks()).keys
    const answers = await times(5, () => dash.signingKeys.rotate())
    expect(statusCounts(answers)).toEqual({ 201: 5 })
    const { data } = await bodyOf(dash.signingKeys.list({ query: { limit: 100 } }))
    expect(data.filter(({ retiredAt }) => retiredAt === null)).toHaveLength(1)
    expect(data).toHaveLength(length + 5)
    const { headers } = await dash.signingKeys.rotate({ idempotencyKey: 'once' })
    expect(headers.get('idempotent-replayed')).toBeNull()
    const again = await dash.signingKeys.rotate({ idempotencyKey: 'once' })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await jwks()).keys).toHaveLength(length + 6)
  })
})

describe('the current key', () => {
  const NEW_KEY = '3c'.repeat(32)

  test('opens after ENCRYPTION_KEY has been replaced', async () => {
    const { sign, failures } = await anotherProcess(openVault(NEW_KEY, [ENCRYPTION_KEY]))
    const jws = sign(TYPE, claims)
    expect([kidOf(jws), failures]).toEqual([await currentKid(), []])
    expect(verifySigned(jws, await jwks(), TYPE)).toEqual(claims)
  })

  test('that cannot be opened stops no process: it is reported, nothing is signed, and old statements verify', async () => {
    const before = await statementOf()
    const { sign, verify, failures } = await anotherProcess(openVault(NEW_KEY))
    expect(() => sign(TYPE, claims)).toThrow(expect.objectContaining({ status: 503, code: 'not_configured' }))
    expect(failures).toEqual([
      expect.stringMatching(`${await currentKid()} cannot be opened. .*ENCRYPTION_KEYS_OLD`),
    ])
    expect(await verify(TYPE, before)).toEqual(claims)
  })
})

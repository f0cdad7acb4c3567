import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Scope } from '../../../src/kernel/contract/scopes.ts'
import { times } from '../../support/at-once.ts'
import { aKey, bodyOf, type TestClient } from '../../support/factories.ts'
import { assertion, type Enrolled, enrolled } from '../../support/identity/people.ts'
import { sessionOf } from '../../support/identity/sessions.ts'
import { isAccepted } from '../../support/keys.ts'
import { service } from './keys-service.ts'

const scopes: Scope[] = ['agents:read']
const WANTED = { name: 'Build server', environment: 'sandbox', scopes } as const

describe('in the console a new key', () => {
  let keyClient: TestClient
  let client: TestClient
  let owner: Enrolled
  beforeAll(async () => {
    const account = await service.owner()
    keyClient = account.client
    owner = await enrolled(service, account)
    ;({ client } = await sessionOf(service, owner))
  })

  const signedFor = (members: object = {}) =>
    assertion(client, owner, { purpose: 'key', subject: { ...WANTED, ...members } })
  type Signed = Awaited<ReturnType<typeof signedFor>>
  const create = (webauthnAssertion?: Signed, members: object = {}) =>
    client.keys.create({ body: { ...WANTED, ...members, ...(webauthnAssertion && { webauthnAssertion }) } })

  test('takes the passkey of the person, and works', async () => {
    expect(await create()).toMatchObject({ status: 400, code: 'assertion_required' })
    const answer = await create(await signedFor())
    expect(answer).toMatchObject({ status: 201, body: { scopes: ['agents:read'], madeById: null } })
    expect((await service.client(String(answer.body.key)).agents.list()).status).toBe(200)
  })

  test('has every scope only where that is signed', async () => {
    const { scopes: _, ...all } = WANTED
    const unlimited = await assertion(client, owner, { purpose: 'key', subject: all })
    expect((await client.keys.create({ body: { ...all, webauthnAssertion: unlimited } })).status).toBe(201)
    const limited = await signedFor()
    expect(await client.keys.create({ body: { ...all, webauthnAssertion: limited } })).toMatchObject({
      status: 400,
      code: 'statement_outdated',
    })
  })

  test.each([
    ['another name', { name: 'Another' }],
    ['another environment', { environment: 'test' }],
    ['more scopes', { scopes: ['agents:read', 'agents:write'] }],
  ])('is not made with %s than was signed', async (_, other) => {
    const consent = await signedFor()
    expect(await create(consent, other)).toMatchObject({ status: 400, code: 'statement_outdated' })
    expect(await create(consent)).toMatchObject({ status: 400, code: 'challenge_used' })
  })

  test('is made once for one signature, however often it is sent at once', async () => {
    const consent = await signedFor()
    const answers = await times(4, () => create(consent))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
  })

  test('in place of another one takes a signature over that one', async () => {
    const [key, other] = [await aKey(keyClient), await aKey(keyClient)]
    const params = { id: key.id }
    const rotate = (webauthnAssertion?: Signed) =>
      client.keys.rotate({ params, body: webauthnAssertion ? { webauthnAssertion } : {} })
    const over = (keyId: string) => assertion(client, owner, { purpose: 'key', subject: { keyId } })
    expect(await rotate()).toMatchObject({ status: 400, code: 'assertion_required' })
    expect(await rotate(await over(other.id))).toMatchObject({ status: 400, code: 'statement_outdated' })
    const answer = await rotate(await over(key.id))
    expect(answer.status).toBe(201)
    expect(await isAccepted(service.client(String(answer.body.key)))).toBe(true)
    expect(await isAccepted(service.client(String(key.key)))).toBe(false)
  })

  test('gets no challenge for an unknown key id', async () => {
    const { id: keyId } = await aKey((await service.owner()).client)
    const answer = await client.passkeys.challenge({ body: { purpose: 'key', subject: { keyId } } })
    expect(answer).toMatchObject({ status: 404, code: 'key_not_found' })
  })

  test('is made by a key without any signature', async () => {
    const { key } = await bodyOf(keyClient.keys.create({ body: WANTED }))
    expect(key).toMatch(/^sk_sandbox_/)
  })
})

describe('a link to sign in by', () => {
  test('takes the signature of an owner, once the account has had a passkey', async () => {
    const account = await service.owner()
    const first = await enrolled(service, account)
    const approver = await enrolled(service, account, { role: 'approver', by: first })
    const { client } = account
    const { personId } = approver
    const link = async (by?: Enrolled) => {
      const subject = { personId }
      const webauthnAssertion = by && (await assertion(client, by, { purpose: 'invitation', subject }))
      return client.console.createLink({
        body: { personId, ...(webauthnAssertion && { webauthnAssertion }) },
      })
    }
    expect(await link()).toMatchObject({ status: 400, code: 'assertion_required' })
    expect(await link(approver)).toMatchObject({ status: 403, code: 'insufficient_role' })
    expect(await link(first)).toMatchObject({ status: 201, body: { personId } })
  })
})

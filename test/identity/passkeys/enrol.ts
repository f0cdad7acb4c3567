import { describe, expect, test } from '@jest/globals'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { aPerson, assertion, enrol, enrolled } from '../../support/identity/people.ts'
import { anAccount, inOtherProcess, ORIGIN as origin, service, told, toRevoke } from './service.ts'

const newDevice = () => new Authenticator({ origin })

describe('the first passkey of an account', () => {
  test.each(['ES256', 'Ed25519', 'RS256'] as const)('is enrolled with a key: %s', async algorithm => {
    const owner = await service.owner()
    const { passkeyId, personId } = await enrolled(service, owner, { algorithm })
    const { data } = await bodyOf(owner.client.passkeys.list())
    expect(data).toEqual([
      expect.objectContaining({
        id: passkeyId,
        personId,
        algorithm,
        enrolledBy: 'key',
        transports: ['internal'],
        backupEligible: true,
        revokedAt: null,
      }),
    ])
  })

  test('is requested with the required options', async () => {
    const owner = await service.owner()
    const { id: personId, name } = await aPerson(service, owner)
    const { options } = await bodyOf(owner.client.passkeys.registerOptions({ body: { personId } }))
    expect(options).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      timeout: 300_000,
      rp: { id: 'pay.example', name: 'Agent Payments' },
      user: { id: Buffer.from(personId).toString('base64url'), name, displayName: name },
      pubKeyCredParams: [-8, -7, -257].map(alg => ({ type: 'public-key', alg })),
      excludeCredentials: [],
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
      extensions: { credProps: true },
    })
  })

  test('is one of an owner', async () => {
    const owner = await service.owner()
    const { id: personId } = await aPerson(service, owner, { role: 'approver' })
    const answer = await owner.client.passkeys.registerOptions({ body: { personId } })
    expect(told(answer)).toBe('403 owner_first')
  })

  test('is one of several that are enrolled at once, in two processes', async () => {
    const owner = await service.owner()
    const [other, people] = [inOtherProcess(owner.key), [] as string[]]
    for (let n = 0; n < 4; n++) people.push((await aPerson(service, owner)).id)
    const begun = await Promise.all(
      people.map(personId => bodyOf(owner.client.passkeys.registerOptions({ body: { personId } }))),
    )
    const answers = await Promise.all(
      begun.map(({ challengeId, options }, n) =>
        (n % 2 ? other : owner.client).passkeys.registerVerify({
          body: { challengeId, registration: newDevice().register(options) },
        }),
      ),
    )
    const refused = '400 assertion_required'
    expect(answers.map(told).sort()).toEqual(['201', refused, refused, refused])
    expect((await bodyOf(owner.client.passkeys.list())).data).toHaveLength(1)
  })
})

describe('a further passkey', () => {
  const begin = async (client: TestClient, personId: string, by?: Parameters<typeof assertion>[1]) => {
    const webauthnAssertion = by && (await assertion(client, by, { purpose: 'enrolment', subject: personId }))
    return client.passkeys.registerOptions({
      body: webauthnAssertion ? { personId, webauthnAssertion } : { personId },
    })
  }

  test('needs one that is enrolled: of the person, or of an owner', async () => {
    const { owner, client, one } = await anAccount()
    const viewer = await enrolled(service, owner, { by: one, role: 'viewer' })
    const { id } = await aPerson(service, owner, { role: 'approver' })
    expect(told(await begin(client, id))).toBe('400 assertion_required')
    expect(told(await begin(client, id, viewer))).toBe('403 insufficient_role')
    expect(told(await begin(client, viewer.personId, viewer))).toBe('201')
    expect(told(await begin(client, id, one))).toBe('201')
  })

  test('is not enrolled by a passkey that is revoked meanwhile', async () => {
    const { client, one, other } = await anAccount()
    const { challengeId, options } = await bodyOf(begin(client, one.personId, other))
    await client.passkeys.revoke({
      params: { id: other.passkeyId },
      body: await toRevoke(client, one, other.passkeyId),
    })
    const registration = newDevice().register(options)
    const answer = await client.passkeys.registerVerify({ body: { challengeId, registration } })
    expect(told(answer)).toBe('400 assertion_required')
  })

  test('is one of twenty of a person', async () => {
    const { client, one } = await anAccount()
    await service.sql(
      `insert into passkeys select (p).* from (
         select jsonb_populate_record(one, jsonb_build_object('id', one.id || n, 'credential_id', one.credential_id || n)) as p
         from passkeys one, generate_series(1, 19) n where one.id = $1) copies`,
      [one.passkeyId],
    )
    expect(told(await begin(client, one.personId, one))).toBe('400 too_many_passkeys')
  })

  test('leads nowhere but over a recovery once the last one is revoked', async () => {
    const owner = await service.owner()
    const { personId, passkeyId } = await enrolled(service, owner)
    await owner.client.passkeys.revoke({ params: { id: passkeyId } })
    expect(told(await begin(owner.client, personId))).toBe('403 recovery_needed')
  })
})

describe('nobody enrols a passkey', () => {
  test.each([
    ['who has not joined', "status = 'invited', joined_at = null"],
    ['who is removed', "status = 'removed', removed_at = now()"],
  ])('%s', async (_, change) => {
    const owner = await service.owner()
    const { id: personId } = await aPerson(service, owner)
    const begun = await bodyOf(owner.client.passkeys.registerOptions({ body: { personId } }))
    await service.sql(`update people set ${change} where id = $1`, [personId])
    const registration = newDevice().register(begun.options)
    const late = await owner.client.passkeys.registerVerify({
      body: { challengeId: begun.challengeId, registration },
    })
    const again = await owner.client.passkeys.registerOptions({ body: { personId } })
    expect([told(late), told(again)]).toEqual(['400 person_not_active', '400 person_not_active'])
  })

  test('for a missing or unknown person', async () => {
    const { client } = await service.owner()
    expect(told(await client.passkeys.registerOptions({ body: {} }))).toBe('400 person_required')
    const body = { personId: 'person_01jd8x2m4ye7k9v0c3q5r6t8w0' }
    expect(told(await client.passkeys.registerOptions({ body }))).toBe('404 person_not_found')
  })
})

test('a device is enrolled for a person of whichever role', async () => {
  const { owner, client, one } = await anAccount()
  const { id } = await aPerson(service, owner, { role: 'viewer' })
  await enrol(client, id, newDevice(), one)
  expect((await bodyOf(client.passkeys.list({ query: { personId: id } }))).data).toHaveLength(1)
})

import { describe, expect, test } from '@jest/globals'
import { http } from '../../support/harness.ts'
import { aDevice } from '../../support/identity/devices.ts'
import { anyone, ask, service } from './service.ts'

const ASKED = { deviceId: 'laptop-7f3a9c', deviceName: 'Ada’s laptop', clientType: 'cli' } as const
const begin = (members: object = {}) => anyone.sessions.begin({ body: { ...ASKED, ...members } as never })

describe('a device that asks for a key', () => {
  test('is given codes, by our names and by those of RFC 8628', async () => {
    const { status, body } = await begin()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      deviceCode: expect.stringMatching(/^dvc_[0-9A-Za-z]{43}$/),
      userCode: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verificationUri: expect.stringMatching(/\/device$/),
      interval: 5,
      expiresIn: 600,
    })
    expect(body.verificationUriComplete).toBe(`${body.verificationUri}?code=${body.userCode}`)
    expect([body.device_code, body.user_code, body.verification_uri, body.expires_in]).toEqual([
      body.deviceCode,
      body.userCode,
      body.verificationUri,
      body.expiresIn,
    ])
  })

  test('may ask by a form, with scopes as OAuth writes them', async () => {
    const form = { client_id: 'any', ...ASKED, scope: 'agents:read intents:read' }
    const answer = await fetch(`${service.url}/sessions/device`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    expect(answer.status).toBe(200)
    const { device_code } = (await answer.json()) as { device_code: string }
    const asked = await http(service.url, 'POST', '/sessions/token', { body: { deviceCode: device_code } })
    expect(asked.body).toEqual({ error: 'authorization_pending' })
  })

  test('stores digests of its codes, and not the codes', async () => {
    const { deviceCode, userCode } = await aDevice(anyone, { deviceName: 'Digests only' })
    const [row] = await service.sql<{ kept: string }>(
      `select row_to_json(s)::text as kept from sessions s where device_name = 'Digests only'`,
    )
    for (const code of [deviceCode, userCode, userCode.replace('-', '')])
      expect(row?.kept).not.toContain(code)
  })

  test.each([
    ['a name of 3 kB', { deviceName: 'x'.repeat(3_000) }, 'deviceName'],
    ['a name that turns its text around', { deviceName: 'Ada\u202egpj.exe' }, 'deviceName'],
    ['a name with a control in it', { deviceName: 'Ada\u0007' }, 'deviceName'],
    ['a name of spaces', { deviceName: '   ' }, 'deviceName'],
    ['an id of seven characters', { deviceId: '1234567' }, 'deviceId'],
    ['an id with spaces', { deviceId: 'ada s laptop' }, 'deviceId'],
    ['a type that there is not', { clientType: 'toaster' }, 'clientType'],
    ['a scope that there is not', { scopes: ['money:print'] }, 'scopes'],
    ['a scope of OAuth that there is not', { scope: 'openid' }, 'scope'],
    ['a private key', { publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x: 'AA', d: 'AA' } }, 'publicKeyJwk'],
    [
      'a key that signs nothing',
      { publicKeyJwk: { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(43) } },
      'publicKeyJwk',
    ],
    [
      'a point off its curve',
      { publicKeyJwk: { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } },
      'publicKeyJwk',
    ],
  ])('with %s is refused, by the name of the member', async (_, members, member) => {
    const answer = await begin(members)
    expect(answer.status).toBe(400)
    expect((answer.body as unknown as { error: string }).error).toMatch(new RegExp(`^${member}`))
  })

  test('with a name of 10 kB is refused by the name of the member, one of 20 kB before it is read', async () => {
    expect(await begin({ deviceName: 'x'.repeat(10_000) })).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^deviceName: .*100/) },
    })
    expect(await begin({ deviceName: 'x'.repeat(20_000) })).toMatchObject({ status: 413 })
  })

  test('may have a name with markup in it, which stays a text', async () => {
    const device = await aDevice(anyone, { deviceName: '<script>alert(1)</script>' })
    expect((await ask(device)).code).toBe('authorization_pending')
  })
})

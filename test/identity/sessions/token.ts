import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { http } from '../../support/harness.ts'
import { letIn } from '../../support/identity/devices.ts'
import { isAccepted } from '../../support/keys.ts'
import {
  anActiveDevice,
  anApprovedDevice,
  anyone,
  ask,
  aWaitingDevice,
  idOf,
  letPass,
  otherProcess,
  service,
} from './service.ts'

const FORM = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }

describe('a device that asks for its key', () => {
  test('gets authorization_pending while it waits, and no other detail', async () => {
    const { device } = await aWaitingDevice()
    const answer = await fetch(`${service.url}/sessions/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...FORM, device_code: device.deviceCode, client_id: 'any' }),
    })
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'authorization_pending' }])
  })

  test('is slowed down by five seconds each time that it comes too early', async () => {
    const { device } = await aWaitingDevice({ deviceName: 'Hasty' })
    const id = await idOf('Hasty')
    const answers: unknown[] = []
    for (const seconds of [0, 1, 1, 5, 16, 20]) {
      await letPass(seconds, id)
      answers.push((await ask(device)).code)
    }
    expect(answers).toEqual([
      'authorization_pending',
      'slow_down',
      'slow_down',
      'slow_down',
      'slow_down',
      'slow_down',
    ])
    await letPass(30, id)
    expect((await ask(device)).code).toBe('authorization_pending')
  })

  test('gets the key after the approval, even right after a poll', async () => {
    const { person, device } = await aWaitingDevice()
    await ask(device)
    await bodyOf(letIn(person.console.client, person.device, device.userCode))
    const { body } = await ask(device)
    expect(body).toMatchObject({ token_type: 'Bearer', boundTo: null, environment: 'sandbox' })
    expect([body.access_token, body.scope.split(' ').length]).toEqual([body.key, body.scopes.length])
    expect(await isAccepted(service.client(String(body.key)))).toBe(true)
    expect((await ask(device)).code).toBe('invalid_grant')
  })

  test('of fifty that ask at once in two processes, one gets it', async () => {
    const { owner, device } = await anApprovedDevice()
    const answers = await times(50, n =>
      http(n % 2 ? service.url : otherProcess, 'POST', '/sessions/token', {
        body: { deviceCode: device.deviceCode },
      }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const others = answers.filter(({ status }) => status !== 200)
    expect(new Set(others.map(({ body }) => body.error))).toEqual(new Set(['invalid_grant']))
    const { data } = await bodyOf(owner.client.keys.list())
    expect(data.filter(({ sessionId }) => sessionId !== null)).toHaveLength(1)
  })

  test('gets expired_token after ten minutes, with or without an approval', async () => {
    const [waiting, approved] = [await aWaitingDevice({ deviceName: 'Late' }), await anApprovedDevice()]
    await letPass(601, await idOf('Late'))
    await letPass(601, approved.session.id)
    expect((await ask(waiting.device)).code).toBe('expired_token')
    expect((await ask(approved.device)).code).toBe('expired_token')
    const typed = { body: { userCode: waiting.device.userCode } }
    expect((await waiting.person.console.client.sessions.lookup(typed)).code).toBe('user_code_expired')
  })

  test.each([
    ['a code of nobody', { deviceCode: 'dvc_0123456789' }, 'invalid_grant'],
    ['another grant', { grant_type: 'password', device_code: 'dvc_0123456789' }, 'unsupported_grant_type'],
    ['no code', { ...FORM }, 'invalid_request'],
    ['two codes', { deviceCode: 'dvc_0123456789', device_code: 'dvc_0123456789' }, 'invalid_request'],
  ])('by %s gets nothing', async (_, body, code) => {
    expect(await anyone.sessions.token({ body: body as never })).toMatchObject({ status: 400, code })
  })

  test('gets nothing from a person who was removed meanwhile', async () => {
    const { owner, person, device } = await anApprovedDevice()
    await service.sql(
      `update people set status = 'removed', removed_at = now() where owner_id = $1 and id = $2`,
      [owner.ownerId, person.personId],
    )
    expect((await ask(device)).code).toBe('access_denied')
  })
})

describe('the key of a device', () => {
  test('lasts ninety days, thirty without a use, and belongs to its person and session', async () => {
    const { owner, person, session, fetched } = await anActiveDevice({ scopes: ['agents:read'] })
    const key = await bodyOf(owner.client.keys.get({ params: { id: fetched.keyId } }))
    expect(key).toMatchObject({
      name: 'Ada’s laptop',
      scopes: ['agents:read'],
      idleDays: 30,
      personId: person.personId,
      sessionId: session.id,
    })
    const days = (new Date(String(key.expiresAt)).getTime() - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(90)
  })

  test('is invalid after thirty days without use, and cannot be replaced then', async () => {
    const { owner, client, fetched } = await anActiveDevice()
    expect(await isAccepted(client)).toBe(true)
    await service.sql(
      `update keys set created_at = now() - interval '40 days', last_used_at = now() - interval '30 days' where id = $1`,
      [fetched.keyId],
    )
    const elsewhere = await http(otherProcess, 'GET', '/customers/me', { token: String(fetched.key) })
    expect(elsewhere.status).toBe(401)
    expect((await owner.client.keys.rotate({ params: { id: fetched.keyId } })).code).toBe('key_not_open')
  })

  test('may no more than its person may by now', async () => {
    const { owner, person, key } = await anActiveDevice()
    await service.sql(`update people set role = 'viewer' where owner_id = $1 and id = $2`, [
      owner.ownerId,
      person.personId,
    ])
    const answer = await http(otherProcess, 'POST', '/agents', { token: key, body: { name: 'Shopper' } })
    expect(answer.headers.get('x-error-code')).toBe('missing_scope')
    expect((await http(otherProcess, 'GET', '/agents', { token: key })).status).toBe(200)
  })

  test('makes keys with its own limits', async () => {
    const { client, person, session } = await anActiveDevice()
    const made = await bodyOf(client.keys.create({ body: { name: 'More', environment: 'sandbox' } }))
    expect(made).toMatchObject({ idleDays: 30, sessionId: session.id, personId: person.personId })
    expect(made.expiresAt).not.toBeNull()
  })

  test('leaves no key behind that it has made once its session is ended', async () => {
    const { owner, client, session } = await anActiveDevice()
    const more = await bodyOf(client.keys.create({ body: { name: 'More', environment: 'sandbox' } }))
    const made = service.client(String(more.key))
    const most = service.client(
      String((await bodyOf(made.keys.create({ body: { name: 'Most', environment: 'test' } }))).key),
    )
    expect([await isAccepted(made), await isAccepted(most)]).toEqual([true, true])
    await bodyOf(owner.client.sessions.revoke({ params: { id: session.id } }))
    expect([await isAccepted(made), await isAccepted(most)]).toEqual([false, false])
  })

  test('makes keys that may no more than its person may by now', async () => {
    const { owner, person, client } = await anActiveDevice()
    const { key } = await bodyOf(client.keys.create({ body: { name: 'More', environment: 'sandbox' } }))
    await service.sql(`update people set role = 'viewer' where owner_id = $1 and id = $2`, [
      owner.ownerId,
      person.personId,
    ])
    const answer = await http(otherProcess, 'POST', '/agents', {
      token: String(key),
      body: { name: 'Shopper' },
    })
    expect(answer.headers.get('x-error-code')).toBe('missing_scope')
  })
})

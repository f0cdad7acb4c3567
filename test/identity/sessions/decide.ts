import { describe, expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { aDevice, consentTo, letIn } from '../../support/identity/devices.ts'
import { aDoorkeeper } from '../../support/identity/pairing.ts'
import { anyone, ask, aWaitingDevice, service } from './service.ts'

describe('a person who types the code of a device', () => {
  test('sees which device it is, what it may get, and from where it asks', async () => {
    const { person, device } = await aWaitingDevice({ deviceName: 'Build server', scopes: ['agents:read'] })
    const typed = device.userCode.toLowerCase().replace('-', ' ')
    const seen = await bodyOf(person.console.client.sessions.lookup({ body: { userCode: typed } }))
    expect(seen).toMatchObject({
      userCode: device.userCode,
      deviceName: 'Build server',
      clientType: 'cli',
      scopes: ['agents:read'],
      withheld: [],
      isBound: false,
      address: '127.0.0.1',
    })
  })

  test('causes one event for the account, however often the page is opened', async () => {
    const { owner, person, device } = await aWaitingDevice()
    for (let n = 0; n < 3; n++)
      await bodyOf(person.console.client.sessions.lookup({ body: { userCode: device.userCode } }))
    const { data } = await bodyOf(owner.client.events.list({ query: { event: 'session.requested' } }))
    expect(data).toHaveLength(1)
  })

  test('lets it in by a passkey over the device, its code and the scopes that were chosen', async () => {
    const { owner, person, device } = await aWaitingDevice({ scopes: ['agents:read', 'agents:write'] })
    const { client } = person.console
    const chosen = { scopes: ['agents:read'] } as const
    const { statement, sentence } = await bodyOf(
      client.sessions.challenge({ body: { userCode: device.userCode, scopes: ['agents:read'] } }),
    )
    expect(statement).toMatchObject({
      kind: 'device',
      subject: { userCode: device.userCode, scopes: ['agents:read'], clientType: 'cli' },
    })
    expect(sentence).toContain(device.userCode)
    const answer = await letIn(client, person.device, device.userCode, { scopes: [...chosen.scopes] })
    expect(answer).toMatchObject({ status: 200, body: { status: 'approved', scopes: ['agents:read'] } })
    expect((await bodyOf(ask(device))).scopes).toEqual(['agents:read'])
    const { data } = await bodyOf(owner.client.events.list({ query: { event: 'session.approved' } }))
    expect(data[0]?.data).toMatchObject({ personId: person.personId, deviceName: 'Ada’s laptop' })
  })

  test.each([
    ['another code', async (other: string) => ({ userCode: other })],
    ['more scopes', async () => ({ scopes: ['agents:read', 'agents:write'] })],
  ])('has signed nothing for %s', async (_, change) => {
    const { person, device } = await aWaitingDevice({ scopes: ['agents:read', 'agents:write'] })
    const { client } = person.console
    const other = await aDevice(anyone, { scopes: ['agents:read'] })
    const chosen = { scopes: ['agents:read' as const] }
    const webauthnAssertion = await consentTo(client, person.device, device.userCode, chosen)
    const body = {
      userCode: device.userCode,
      ...chosen,
      webauthnAssertion,
      ...(await change(other.userCode)),
    }
    expect(await client.sessions.verify({ body: body as never })).toMatchObject({
      status: 400,
      code: 'statement_outdated',
    })
    expect((await ask(device)).code).toBe('authorization_pending')
  })

  test('lets nothing in without a passkey', async () => {
    const { person, device } = await aWaitingDevice()
    const answer = await person.console.client.sessions.verify({ body: { userCode: device.userCode } })
    expect(answer).toMatchObject({ status: 400, code: 'assertion_required' })
  })

  test('denies it without a passkey, which the device reads from then on', async () => {
    const { owner, person, device } = await aWaitingDevice()
    const { client } = person.console
    expect((await bodyOf(client.sessions.deny({ body: { userCode: device.userCode } }))).status).toBe(
      'denied',
    )
    for (let n = 0; n < 2; n++)
      expect(await ask(device)).toMatchObject({ status: 400, code: 'access_denied' })
    expect(await client.sessions.deny({ body: { userCode: device.userCode } })).toMatchObject({
      code: 'user_code_unknown',
    })
    const { data } = await bodyOf(owner.client.events.list({ query: { event: 'session.denied' } }))
    expect(data).toHaveLength(1)
  })

  test('gives no more than the role has', async () => {
    const { owner, person } = await aWaitingDevice()
    const viewer = await aDoorkeeper(service, owner, { role: 'viewer', by: person })
    const { client } = viewer.console
    const greedy = await aDevice(anyone, { scopes: ['agents:read', 'keys:write'] })
    const seen = await bodyOf(client.sessions.lookup({ body: { userCode: greedy.userCode } }))
    expect([seen.scopes, seen.withheld]).toEqual([['agents:read'], ['keys:write']])
    const wanted = { userCode: greedy.userCode, scopes: ['keys:write' as const] }
    expect(await client.sessions.challenge({ body: wanted })).toMatchObject({
      status: 403,
      code: 'scope_not_held',
    })
    await bodyOf(letIn(client, viewer.device, greedy.userCode))
    const { key, scopes } = await bodyOf(ask(greedy))
    expect(scopes).toEqual(['agents:read'])
    expect(
      (await service.client(String(key)).keys.create({ body: { name: 'More', environment: 'sandbox' } }))
        .code,
    ).toBe('missing_scope')
  })

  test('of two accounts that decide at once, one has the device', async () => {
    const { person, device } = await aWaitingDevice()
    const stranger = await aDoorkeeper(service, await service.owner())
    const consents = await Promise.all(
      [person, stranger].map(async one => ({
        client: one.console.client,
        webauthnAssertion: await consentTo(one.console.client, one.device, device.userCode),
      })),
    )
    const answers = await times(2, n => {
      const { client, webauthnAssertion } = consents[n] as (typeof consents)[0]
      return client.sessions.verify({ body: { userCode: device.userCode, webauthnAssertion } })
    })
    expect(answers.map(({ code }) => code).sort()).toEqual(['user_code_unknown', undefined])
    expect((await bodyOf(ask(device))).key).toMatch(/^sk_sandbox_/)
  })
})

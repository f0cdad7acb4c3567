import { describe, expect, test } from '@jest/globals'
import { atOnce, type HeldLock, rowOf } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { aDevice, letIn } from '../../support/identity/devices.ts'
import { aDoorkeeper, approvePairing, aTerminal } from '../../support/identity/pairing.ts'
import { isAccepted } from '../../support/keys.ts'
import {
  anActiveDevice,
  anApprovedDevice,
  anyone,
  ask,
  aWaitingDevice,
  endDue,
  forget,
  idOf,
  letPass,
  service,
} from './service.ts'

const eventsOf = async ({ client }: Awaited<ReturnType<typeof service.owner>>, event: string) =>
  (await bodyOf(client.events.list({ query: { event } }))).data.map(({ data }) => data)

describe('the session of a device', () => {
  test('is listed with its key, its person and its times', async () => {
    const { owner, person, session, fetched, client } = await anActiveDevice()
    await bodyOf(client.customers.me())
    const [listed] = (await bodyOf(owner.client.sessions.list({ query: { status: 'active' } }))).data
    expect(listed).toMatchObject({
      id: session.id,
      status: 'active',
      keyId: fetched.keyId,
      personId: person.personId,
      lastUsedAt: expect.any(String),
    })
    expect(await bodyOf(owner.client.sessions.get({ params: { id: session.id } }))).toEqual(listed)
    const stranger = await service.owner()
    expect((await stranger.client.sessions.get({ params: { id: session.id } })).status).toBe(404)
  })

  test('ends with its key, at once', async () => {
    const { owner, session, client } = await anActiveDevice()
    const params = { id: session.id }
    expect(await bodyOf(owner.client.sessions.revoke({ params }))).toMatchObject({ status: 'revoked' })
    expect(await isAccepted(client)).toBe(false)
    expect((await owner.client.sessions.revoke({ params })).code).toBe('session_not_open')
    expect(await eventsOf(owner, 'session.revoked')).toHaveLength(1)
    expect(await eventsOf(owner, 'key.revoked')).toHaveLength(1)
  })

  test('yields no key if it is ended before the device fetches it', async () => {
    const { owner, session, device } = await anApprovedDevice()
    await bodyOf(owner.client.sessions.revoke({ params: { id: session.id } }))
    expect((await ask(device)).code).toBe('access_denied')
  })

  test('ends where its key is revoked by itself', async () => {
    const { owner, session, fetched } = await anActiveDevice()
    await bodyOf(owner.client.keys.revoke({ params: { id: fetched.keyId } }))
    expect(await bodyOf(owner.client.sessions.get({ params: { id: session.id } }))).toMatchObject({
      status: 'revoked',
    })
    expect(await eventsOf(owner, 'session.revoked')).toHaveLength(1)
  })

  test('continues with the replacement of its key, and ends both keys', async () => {
    const { owner, session, fetched, client } = await anActiveDevice()
    const params = { id: fetched.keyId }
    const next = await bodyOf(owner.client.keys.rotate({ params, body: { overlapMinutes: 60 } }))
    expect(next).toMatchObject({ sessionId: session.id, idleDays: 30, expiresAt: fetched.expiresAt })
    const { keyId } = await bodyOf(owner.client.sessions.get({ params: { id: session.id } }))
    expect(keyId).toBe(next.id)
    await bodyOf(owner.client.sessions.revoke({ params: { id: session.id } }))
    for (const one of [client, service.client(String(next.key))]) expect(await isAccepted(one)).toBe(false)
  })

  test('ends with the person who has let the device in', async () => {
    const { owner, person } = await aWaitingDevice()
    const second = await aDoorkeeper(service, owner, { by: person })
    const device = await aDevice(service.client())
    await bodyOf(letIn(second.console.client, second.device, device.userCode))
    const { key, sessionId } = await bodyOf(ask(device))
    await bodyOf(owner.client.people.remove({ params: { id: second.personId } }))
    expect(await isAccepted(service.client(String(key)))).toBe(false)
    expect((await bodyOf(owner.client.sessions.get({ params: { id: sessionId } }))).status).toBe('revoked')
  })

  test('can be ended only by its approver or an owner', async () => {
    const { owner, person, session } = await anActiveDevice()
    const viewer = await aDoorkeeper(service, owner, { role: 'viewer', by: person })
    const params = { id: session.id }
    expect((await viewer.console.client.sessions.revoke({ params })).status).toBe(404)
    expect((await bodyOf(viewer.console.client.sessions.list())).data).toEqual([])
    expect((await person.console.client.sessions.revoke({ params })).status).toBe(200)
  })

  test('of more scopes than a key has is not ended by that key', async () => {
    const { owner, session } = await anActiveDevice()
    const few = await bodyOf(
      owner.client.keys.create({ body: { name: 'Few', environment: 'sandbox', scopes: ['sessions:write'] } }),
    )
    const answer = await service.client(String(few.key)).sessions.revoke({ params: { id: session.id } })
    expect(answer.code).toBe('scope_not_held')
  })

  test('expires with an event if the device does not fetch its key', async () => {
    const { owner, session } = await anApprovedDevice()
    await letPass(601, session.id)
    const params = { id: session.id }
    await endDue()
    expect((await bodyOf(owner.client.sessions.get({ params }))).status).toBe('expired')
    expect(await eventsOf(owner, 'session.expired')).toMatchObject([{ sessionId: session.id }])
  })

  test('continues after its due time if its key was used meanwhile', async () => {
    const { owner, session, client } = await anActiveDevice()
    await bodyOf(client.customers.me())
    await letPass(31 * 86_400, session.id)
    await endDue()
    const [looked] = await service.sql('select ends_at > now() as later from sessions where id = $1', [
      session.id,
    ])
    expect(looked).toEqual({ later: true })
    expect((await bodyOf(owner.client.sessions.get({ params: { id: session.id } }))).status).toBe('active')
    expect(await isAccepted(client)).toBe(true)
  })

  test('expires after thirty days without a use', async () => {
    const { owner, session, fetched } = await anActiveDevice()
    await service.sql(`update keys set created_at = now() - interval '31 days' where id = $1`, [
      fetched.keyId,
    ])
    await letPass(31 * 86_400, session.id)
    const params = { id: session.id }
    await endDue()
    expect((await bodyOf(owner.client.sessions.get({ params }))).status).toBe('expired')
    expect(await eventsOf(owner, 'session.expired')).toHaveLength(1)
  })

  test('is not ended twice: a refusal leaves the keys that are in use after it has expired', async () => {
    const { owner, session, fetched, client } = await anActiveDevice()
    const child = await bodyOf(client.keys.create({ body: CHILD }))
    await service.sql(
      `update keys set created_at = now() - interval '31 days', last_used_at = null where id = $1`,
      [fetched.keyId],
    )
    await letPass(31 * 86_400, session.id)
    await endDue()
    const params = { id: session.id }
    expect((await bodyOf(owner.client.sessions.get({ params }))).status).toBe('expired')
    expect((await owner.client.sessions.revoke({ params })).code).toBe('session_not_open')
    expect(await areAccepted([child.key])).toEqual([true])
    expect(await eventsOf(owner, 'key.revoked')).toEqual([])
    await bodyOf(owner.client.keys.revoke({ params: { id: fetched.keyId } }))
    expect(await areAccepted([child.key])).toEqual([false])
  })

  test('is deleted a day after its end if it was never decided', async () => {
    await aWaitingDevice({ deviceName: 'Forgotten' })
    const id = await idOf('Forgotten')
    await letPass(601, id)
    const statusOf = async () =>
      (await service.sql<{ status: string }>('select status from sessions where id = $1', [id]))[0]?.status
    await endDue()
    expect(await statusOf()).toBe('expired')
    await service.sql("update sessions set forget_at = now() - interval '1 second' where id = $1", [id])
    await forget()
    expect(await statusOf()).toBeUndefined()
  })
})

test('the pairing of a terminal is no session, and is deleted an hour after its end', async () => {
  const owner = await service.owner()
  const person = await aDoorkeeper(service, owner)
  const { code } = await aTerminal(anyone)
  const { id } = await bodyOf(approvePairing(person.console.client, person.device, code))
  const kept = async () => {
    await forget()
    return service.sql('select from sessions where id = $1', [id])
  }
  await letPass(301, id)
  await endDue()
  expect(await eventsOf(owner, 'session.expired')).toEqual([])
  expect((await bodyOf(owner.client.sessions.list())).data).toEqual([])
  expect((await owner.client.sessions.get({ params: { id } })).status).toBe(404)
  expect((await owner.client.sessions.revoke({ params: { id } })).status).toBe(404)
  await service.sql("update sessions set forget_at = forget_at - interval '61 minutes' where id = $1", [id])
  expect(await kept()).toHaveLength(1)
  await service.sql("update sessions set forget_at = forget_at - interval '4 minutes' where id = $1", [id])
  expect(await kept()).toEqual([])
})

/** The revocation begins while the other request waits for a lock, and waits for that request. */
async function revokedWhile<T>(
  { owner, session }: Pick<Awaited<ReturnType<typeof anApprovedDevice>>, 'owner' | 'session'>,
  held: HeldLock,
  request: () => Promise<T>,
): Promise<T> {
  const revoke = () => bodyOf(owner.client.sessions.revoke({ params: { id: session.id } }))
  const [answer, { status }] = await atOnce(service, held, request, revoke)
  expect(status).toBe('revoked')
  return answer
}

const CHILD = { name: 'Child', environment: 'sandbox' } as const

const areAccepted = (keys: readonly unknown[]) =>
  Promise.all(keys.map(key => isAccepted(service.client(String(key)))))

describe('a session that is revoked', () => {
  test('ends the key that its device fetches at the same time', async () => {
    const approved = await anApprovedDevice()
    const { id } = approved.session
    const fetched = await bodyOf(revokedWhile(approved, rowOf('sessions', id), () => ask(approved.device)))
    expect(await areAccepted([fetched.key])).toEqual([false])
    expect(await eventsOf(approved.owner, 'key.revoked')).toMatchObject([{ keyId: fetched.keyId }])
  })

  test('ends the replacement that its key gets at the same time', async () => {
    const active = await anActiveDevice()
    const { owner, session, fetched, key } = active
    const rotate = { params: { id: fetched.keyId }, body: { overlapMinutes: 60 } }
    const next = await bodyOf(
      revokedWhile(active, rowOf('sessions', session.id), () => owner.client.keys.rotate(rotate)),
    )
    expect(await areAccepted([key, next.key])).toEqual([false, false])
    expect(await eventsOf(owner, 'session.revoked')).toHaveLength(1)
    expect(await eventsOf(owner, 'key.revoked')).toHaveLength(2)
  })

  test('ends the key that its key creates at the same time', async () => {
    const active = await anActiveDevice()
    const { key, client } = active
    const { ownerId, mode } = await bodyOf(client.keys.current())
    const keysLock = {
      lock: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
      values: [`keys|${ownerId}|${mode}`],
    }
    const child = await bodyOf(revokedWhile(active, keysLock, () => client.keys.create({ body: CHILD })))
    expect(await areAccepted([key, child.key])).toEqual([false, false])
  })

  test('keeps its keys if it expires at the same time: the answer is that nothing was done', async () => {
    const { owner, session, client } = await anActiveDevice()
    const expire = () =>
      service.sql(`update sessions set status = 'expired', ended_at = now() where id = $1`, [session.id])
    const revoke = () => owner.client.sessions.revoke({ params: { id: session.id } })
    const [, answer] = await atOnce(service, rowOf('sessions', session.id), expire, revoke)
    expect(['busy', 'session_not_open']).toContain(answer.code)
    expect(await isAccepted(client)).toBe(true)
    expect(await eventsOf(owner, 'key.revoked')).toEqual([])
  })

  test('leaves no key, whatever its keys do at the same time', async () => {
    const { owner, session, fetched, client } = await anActiveDevice()
    const params = { id: fetched.keyId }
    const [revoked, ...made] = await Promise.all([
      owner.client.sessions.revoke({ params: { id: session.id } }),
      client.keys.rotate({ params, body: { overlapMinutes: 60 } }),
      client.keys.create({ body: CHILD }),
      client.keys.create({ body: CHILD }),
    ])
    expect(revoked.status).toBe(200)
    const keys = made.flatMap(({ body }) => body?.key ?? [])
    expect(await areAccepted([fetched.key, ...keys])).not.toContain(true)
  })
})

test('a key of a device ends with the keys that it has created', async () => {
  const { owner, fetched, key, client } = await anActiveDevice()
  const child = await bodyOf(client.keys.create({ body: CHILD }))
  const grandchild = await bodyOf(service.client(String(child.key)).keys.create({ body: CHILD }))
  await bodyOf(owner.client.keys.revoke({ params: { id: fetched.keyId } }))
  expect(await areAccepted([key, child.key, grandchild.key])).toEqual([false, false, false])
  expect(await eventsOf(owner, 'session.revoked')).toHaveLength(1)
  expect(await eventsOf(owner, 'key.revoked')).toHaveLength(3)
})

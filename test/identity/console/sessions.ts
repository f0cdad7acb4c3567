import { describe, expect, test } from '@jest/globals'
import { aLiveClient, bodyOf } from '../../support/factories.ts'
import { http } from '../../support/harness.ts'
import { FROM_OUR_PAGE, type SignedIn, signedInTo } from '../../support/identity/console.ts'
import { peopleInConsole } from '../../support/identity/in-console.ts'
import { linkedChallenge, signed } from '../../support/identity/people.ts'
import { secondsUntilRefused } from '../../support/keys.ts'
import { traceOf } from '../../support/trace.ts'
import { otherProcessUrl, recorder, service } from './console-service.ts'

const { url } = service

const statusAt = async (at: string, { headers }: Pick<SignedIn, 'headers'>): Promise<number> =>
  (await http(at, 'GET', '/console/session', { headers })).status

/** How long a session stays valid in either process, from now on. */
const secondsItOpens = (session: SignedIn): Promise<number> =>
  secondsUntilRefused(async () =>
    (await Promise.all([url, otherProcessUrl].map(at => statusAt(at, session)))).some(
      status => status !== 401,
    ),
  )

const lastUsed = async ({ sessionId }: SignedIn): Promise<string> => {
  const [row] = await service.sql<{ at: Date }>(
    'select last_used_at as at from console_sessions where id = $1',
    [sessionId],
  )
  return String(row?.at.toISOString())
}

/** Moves the activity of a session back, as if this many seconds had passed. */
const idleFor = ({ sessionId }: SignedIn, seconds: number) =>
  service.sql(`update console_sessions set last_used_at = now() - $2 * interval '1 second' where id = $1`, [
    sessionId,
    seconds,
  ])

describe('a session', () => {
  test('ends when its person signs out: here at once, in another process within a moment', async () => {
    const owner = await service.owner()
    const session = await signedInTo(service, owner)
    expect([await statusAt(url, session), await statusAt(otherProcessUrl, session)]).toEqual([200, 200])
    const answer = await session.client.console.signOut()
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([
      204,
      'session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    ])
    expect(await statusAt(url, session)).toBe(401)
    expect(await secondsItOpens(session)).toBeLessThan(1)
    expect(await traceOf(service, answer)).toEqual({
      events: ['console.signed_out'],
      actions: ['console.signOut'],
      entries: 1,
    })
  })

  test('ends in every process when another person ends it or the person is removed', async () => {
    const owner = await service.owner()
    const [ended, removed] = [
      await signedInTo(service, owner),
      await signedInTo(service, owner, { role: 'viewer' }),
    ]
    for (const session of [ended, removed]) await statusAt(otherProcessUrl, session)
    const answer = await owner.client.console.endSession({ params: { id: ended.sessionId } })
    expect(answer).toMatchObject({ status: 200, body: { status: 'ended', endedBecause: 'ended' } })
    await bodyOf(owner.client.people.remove({ params: { id: removed.personId } }))
    for (const session of [ended, removed]) expect(await secondsItOpens(session)).toBeLessThan(1)
    expect((await owner.client.console.endSession({ params: { id: ended.sessionId } })).code).toBe(
      'session_ended',
    )
    const { data } = await bodyOf(owner.client.console.sessions({ query: { status: 'ended' } }))
    expect(data.map(({ endedBecause }) => endedBecause)).toEqual(['person', 'ended'])
  })

  test('has the scopes of the role that its person has now, at once', async () => {
    const owner = await service.owner()
    await signedInTo(service, owner)
    const session = await signedInTo(service, owner)
    const invite = () => session.client.agents.create({ body: { name: 'Shopper' } })
    expect((await invite()).status).toBe(201)
    await bodyOf(owner.client.people.update({ params: { id: session.personId }, body: { role: 'viewer' } }))
    expect(await invite()).toMatchObject({ status: 403, code: 'missing_scope' })
    expect((await session.client.agents.list()).status).toBe(200)
  })

  test('is named in the audit trail by its person', async () => {
    const owner = await service.owner()
    const session = await signedInTo(service, owner)
    await bodyOf(session.client.agents.create({ body: { name: 'Shopper' } }))
    const { data } = await bodyOf(owner.client.audit.list({ query: { actor: session.personId } }))
    expect(data[0]).toMatchObject({
      actorType: 'console',
      actorId: session.personId,
      action: 'agents.create',
    })
  })

  test('lasts at most twelve hours, and in test mode also without activity', async () => {
    const session = await signedInTo(service, await service.owner())
    await idleFor(session, 3_600)
    expect(await statusAt(url, session)).toBe(200)
    await service.sql('update console_sessions set expires_at = now() where id = $1', [session.sessionId])
    expect(await secondsItOpens(session)).toBeLessThan(1)
  })

  test('makes keys that do not end with it, and nothing once it has ended', async () => {
    const owner = await service.owner()
    const [person] = await peopleInConsole(service, owner, ['owner'])
    if (!person) throw new Error('there is no person')
    const { client, headers, device } = person
    const agent = await bodyOf(client.agents.create({ body: { name: 'Shopper' } }))
    const make = (members = {}) =>
      http(url, 'POST', `/agents/${agent.id}/tokens`, { headers, body: { label: 'Till', ...members } })
    const webauthnAssertion = signed(await linkedChallenge(client, await make()), device)
    const { token, expiresAt } = (await make({ webauthnAssertion })).body
    expect(expiresAt).toBeNull()
    await bodyOf(client.console.signOut())
    expect((await make()).status).toBe(401)
    expect((await service.client(String(token)).intents.list()).status).toBe(200)
  })
})

describe('in live mode a session', () => {
  const aLiveSession = async () => {
    const owner = await service.owner()
    await aLiveClient(service, owner)
    return signedInTo(service, { ...owner, mode: 'live' })
  }

  test('ends five minutes after anybody has done something', async () => {
    const [resting, gone] = [await aLiveSession(), await aLiveSession()]
    await idleFor(resting, 280)
    await idleFor(gone, 301)
    expect(await statusAt(url, resting)).toBe(200)
    expect(await secondsItOpens(gone)).toBeLessThan(1)
  })

  test('continues during activity, which background requests are not', async () => {
    const session = await aLiveSession()
    await idleFor(session, 280)
    const before = await lastUsed(session)
    const background = { headers: { ...session.headers, 'x-background': 'true' } }
    expect(await statusAt(url, background)).toBe(200)
    expect(await lastUsed(session)).toBe(before)
    expect(await statusAt(url, session)).toBe(200)
    expect(Date.parse(await lastUsed(session)) - Date.parse(before)).toBeGreaterThan(270_000)
  })
})

describe('the list of sessions', () => {
  test('shows all to owners and keys, and their own to others, who end no other', async () => {
    const owner = await service.owner()
    const [first, viewer] = [
      await signedInTo(service, owner),
      await signedInTo(service, owner, { role: 'viewer' }),
    ]
    const idsOf = async (client: SignedIn['client'], query = {}) =>
      (await bodyOf(client.console.sessions({ query }))).data.map(({ id }) => id)
    expect(await idsOf(owner.client)).toEqual([viewer.sessionId, first.sessionId])
    expect(await idsOf(first.client)).toEqual([viewer.sessionId, first.sessionId])
    expect(await idsOf(first.client, { personId: viewer.personId })).toEqual([viewer.sessionId])
    expect(await idsOf(viewer.client)).toEqual([viewer.sessionId])
    expect(await viewer.client.console.endSession({ params: { id: first.sessionId } })).toMatchObject({
      status: 404,
      code: 'session_not_found',
    })
    expect((await viewer.client.console.endSession({ params: { id: viewer.sessionId } })).status).toBe(200)
    expect((await first.client.console.session()).status).toBe(200)
  })
})

describe('a form of another site', () => {
  test('changes nothing, although the browser sends the cookie with it', async () => {
    const owner = await service.owner()
    const { cookie } = await signedInTo(service, owner)
    const agent = await bodyOf(owner.client.agents.create({ body: { name: 'Shopper' } }))
    const answer = await http(url, 'POST', `/agents/${agent.id}/freeze`, {
      headers: {
        cookie,
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'reason=x',
    })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'cross_site'])
    expect((await bodyOf(owner.client.agents.get({ params: { id: agent.id } }))).status).toBe('active')
  })
})

describe('a request by the cookie', () => {
  test('costs no more statements than by a key', async () => {
    const owner = await service.owner()
    const session = await signedInTo(service, owner)
    const costOf = async (name: string, headers: Readonly<Record<string, string>>) => {
      await recorder.measure(name, () => http(url, 'GET', '/agents', { headers }))
      return recorder.roundTrips.get(name)
    }
    const byKey = await costOf('by key', { authorization: `Bearer ${owner.key}`, ...FROM_OUR_PAGE })
    expect(byKey).toBeGreaterThan(0)
    expect(await costOf('by cookie', session.headers)).toBe(byKey)
  })
})

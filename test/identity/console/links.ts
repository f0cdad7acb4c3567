import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { deleteExpiredRows } from '../../../src/kernel/background/sweep.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { bodyOf } from '../../support/factories.ts'
import {
  cookieOf,
  FROM_OUR_PAGE,
  firstPerson,
  redeem,
  signedInBy,
  signedInTo,
} from '../../support/identity/console.ts'
import { traceOf } from '../../support/trace.ts'
import { otherProcessUrl, service } from './console-service.ts'

const { url } = service

describe('a link to sign in by', () => {
  test('makes the first person, an owner with the name of the account', async () => {
    const { client, ownerId } = await service.owner()
    const { body: link } = await client.console.createLink()
    expect(link).toMatchObject({ personId: null, url: expect.stringContaining('/login#lnk_') })
    expect(Math.round((Date.parse(link.expiresAt) - Date.now()) / 3_600_000)).toBe(24)
    const answer = await redeem(url, link.url)
    expect([answer.status, answer.body]).toMatchObject([
      201,
      {
        ownerId,
        mode: 'test',
        role: 'owner',
        kind: 'join',
        status: 'active',
        isCurrent: true,
        passkeyId: null,
      },
    ])
    expect(answer.body.personName).toBe((await client.customers.me()).body.name)
    expect(await traceOf(service, answer)).toMatchObject({ events: ['person.joined', 'console.signed_in'] })
    expect(answer.text).not.toContain('con_')
  })

  test('is sent in an HttpOnly cookie of this host, which lasts twelve hours', async () => {
    const { client } = await service.owner()
    const answer = await redeem(url, (await client.console.createLink()).body.url)
    expect(answer.headers.get('set-cookie')).toMatch(
      /^session=con_\w{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/,
    )
    expect(Date.parse(answer.body.endsAt) - Date.parse(answer.body.createdAt)).toBe(12 * 3_600_000)
  })

  test('needs a person once the account has people', async () => {
    const { client } = await service.owner()
    const { personId } = await firstPerson(url, client)
    expect(await client.console.createLink()).toMatchObject({ status: 400, code: 'person_required' })
    const { body } = await client.console.createLink({ body: { personId } })
    expect((await redeem(url, body.url)).body).toMatchObject({ personId, kind: 'sign_in' })
  })

  test('is refused for a person of another owner, and for a removed person', async () => {
    const [{ client, ownerId }, { client: other }] = [await service.owner(), await service.owner()]
    await firstPerson(url, client)
    const { personId: foreign } = await firstPerson(url, other)
    const { personId: removed } = await signedInTo(service, { ownerId }, { role: 'viewer' })
    await bodyOf(client.people.remove({ params: { id: removed } }))
    for (const personId of [foreign, removed])
      expect(await client.console.createLink({ body: { personId } })).toMatchObject({
        status: 404,
        code: 'person_not_found',
      })
  })

  test('is opened once, also by two browsers at one instant at two processes', async () => {
    const { client } = await service.owner()
    const { url: link } = (await client.console.createLink()).body
    const answers = await Promise.all(
      [url, otherProcessUrl, url, otherProcessUrl].map(at => redeem(at, link)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 410, 410, 410])
    expect(answers.flatMap(({ headers }) => headers.get('x-error-code') ?? [])).toEqual(
      Array(3).fill('link_used'),
    )
    expect((await client.people.list()).body.data).toHaveLength(1)
  })

  test('opens nothing after its end, once a newer one is there, and once its person is removed', async () => {
    const { client, ownerId } = await service.owner()
    await firstPerson(url, client)
    const { personId } = await signedInTo(service, { ownerId }, { role: 'viewer' })
    const linkOf = async () => (await client.console.createLink({ body: { personId } })).body
    const [replaced, expired] = [await linkOf(), await linkOf()]
    await service.sql(`update person_links set expires_at = now() where id = $1`, [expired.id])
    for (const link of [replaced, expired])
      expect(await redeem(url, link.url)).toMatchObject({
        status: 410,
        body: { error: expect.stringContaining('has expired') },
      })
    const last = await linkOf()
    await bodyOf(client.people.remove({ params: { id: personId } }))
    expect((await redeem(url, last.url)).status).toBe(404)
  })

  test('is one, where several are made at one instant', async () => {
    const { client } = await service.owner()
    const { personId } = await firstPerson(url, client)
    const made = await Promise.all(
      Array.from({ length: 4 }, () => client.console.createLink({ body: { personId } })),
    )
    const answers = await Promise.all(made.map(({ body }) => redeem(url, body.url)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 410, 410, 410])
  })

  test('is forgotten a month after its end', async () => {
    const { client } = await service.owner()
    const { personId } = await firstPerson(url, client)
    const made = [
      await client.console.createLink({ body: { personId } }),
      await client.console.createLink({ body: { personId } }),
    ]
    const [old, recent] = made.map(({ body }) => body.id)
    const end = (id: string | undefined, days: number) =>
      service.sql('update person_links set expires_at = now() - make_interval(days => $2) where id = $1', [
        id,
        days,
      ])
    await end(old, 31)
    await end(recent, 29)
    const database = openDatabase(service.databaseUrl, 2)
    await deleteExpiredRows(database, areas).finally(() => database.close())
    const kept = await service.sql('select id from person_links where id = any($1)', [[old, recent]])
    expect(kept).toEqual([{ id: recent }])
  })

  test('is refused from another site, and for an unknown token', async () => {
    const { client } = await service.owner()
    const { url: link } = (await client.console.createLink()).body
    const crossSite = await redeem(url, link, { 'sec-fetch-site': 'cross-site' })
    expect([crossSite.status, crossSite.headers.get('x-error-code')]).toEqual([403, 'cross_site'])
    expect((await redeem(url, 'http://localhost/login#lnk_nobody')).status).toBe(404)
    expect((await redeem(url, link)).status).toBe(201)
  })

  test('shows its token once, and keeps no more than its digest', async () => {
    const { client } = await service.owner()
    const key = { idempotencyKey: 'one-link' }
    const { url: link } = (await client.console.createLink(key)).body
    expect((await client.console.createLink(key)).body).toMatchObject({ url: null })
    const token = String(link).split('#')[1]
    const [found] = await service.sql<{ text: string }>(
      `select string_agg(row_to_json(l)::text, '') as text from person_links l`,
    )
    expect(found?.text).not.toContain(token)
    expect(found?.text.length).toBeGreaterThan(100)
  })

  test('ends the session that the browser had', async () => {
    const { client } = await service.owner()
    const first = await firstPerson(url, client)
    const { url: link } = (await client.console.createLink({ body: { personId: first.personId } })).body
    const cookie = cookieOf(await redeem(url, link, { cookie: first.cookie }))
    const { data } = (await client.console.sessions()).body
    expect(data).toMatchObject([{ status: 'active' }, { status: 'ended', endedBecause: 'replaced' }])
    expect((await first.client.console.session()).status).toBe(401)
    expect(
      (await service.http('GET', '/console/session', { headers: { ...FROM_OUR_PAGE, cookie } })).status,
    ).toBe(200)
  })

  test('of one browser is no other’s: two that sign in have a session each', async () => {
    const { client } = await service.owner()
    const first = await firstPerson(url, client)
    const { url: link } = (await client.console.createLink({ body: { personId: first.personId } })).body
    const second = await signedInBy(url, await redeem(url, link))
    for (const one of [first, second])
      expect((await one.client.console.session()).body).toMatchObject({ id: one.sessionId, isCurrent: true })
  })
})

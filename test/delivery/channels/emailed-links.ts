import { describe, expect, test } from '@jest/globals'
import { linkIn } from '../../support/delivery/channels.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { redeem } from '../../support/identity/console.ts'
import { until } from '../../support/until.ts'
import { channels } from './service.ts'

const { service, mail, mailsTo, allSent } = channels

const without = await startTestService()
let count = 0
const anAddress = () => `invited-${++count}@example.com`

const invited = (client: TestClient, members: object = {}) =>
  bodyOf(client.people.create({ body: { name: 'Grace Hopper', role: 'approver', ...members } }))

const recovering = async (client: TestClient, id: string) => {
  await bodyOf(service.dash.people.recover({ params: { id } }))
  await bodyOf(client.sandbox.advance({ body: { minutes: 24 * 60 + 1 } }))
}

describe('an invitation by e-mail', () => {
  test('goes to the address in it, with the token behind #, and opens by a press only', async () => {
    const { client, ownerId } = await service.owner()
    const email = anAddress()
    const person = await invited(client, { email, send: 'email' })
    const mailed = await until('the mail', () => mailsTo(email)[0])
    expect(mailed.parsed.subject).toBe('Your access to Agent Payments / Ihr Zugang zu Agent Payments')
    const link = linkIn(mailed)
    expect(link).toBe(person.joinUrl)
    expect(new URL(link).hash).toMatch(/^#lnk_/)
    const page = link.replace('localhost', '127.0.0.1').replace(/#.*/, '')
    for (let round = 0; round < 20; round++) expect((await fetch(page)).status).toBe(200)
    expect((await bodyOf(client.people.get({ params: { id: person.id } }))).status).toBe('invited')
    expect((await redeem(service.url, link)).status).toBe(201)
    expect((await bodyOf(client.people.get({ params: { id: person.id } }))).status).toBe('active')
    await allSent(ownerId)
    const token = new URL(link).hash.slice(1)
    const stored = await service.sql('select url, hash from person_links where person_id = $1', [person.id])
    expect(stored).toMatchObject([{ url: null }])
    const events = await service.sql('select data from events where owner_id = $1', [ownerId])
    expect(JSON.stringify([stored, events])).not.toContain(token)
    expect(mailsTo(email)).toHaveLength(1)
  })

  test('is not sent unless that was asked for, nor without an address', async () => {
    const { client, ownerId } = await service.owner()
    const email = anAddress()
    await invited(client, { email })
    await allSent(ownerId)
    expect(mailsTo(email)).toEqual([])
    const body = { name: 'Ada', role: 'viewer', send: 'email' } as const
    expect(await client.people.create({ body })).toMatchObject({ status: 400, code: 'email_missing' })
  })

  test('of a link that was replaced is not sent any more', async () => {
    const { client, ownerId } = await service.owner()
    const email = anAddress()
    mail.answerWith(email, 451)
    const { id } = await invited(client, { email, send: 'email' })
    await allSent(ownerId)
    await bodyOf(client.people.link({ params: { id }, body: {} }))
    mail.answerWith(email, 250)
    await service.sql('update channel_messages set due_at = now() where owner_id = $1', [ownerId])
    await allSent(ownerId)
    expect(mailsTo(email)).toEqual([])
  })

  test('above the hourly limit is not sent, and its secret is not kept', async () => {
    const { client, ownerId } = await service.owner()
    const email = anAddress()
    const { id } = await invited(client, { email })
    await service.sql(
      `insert into channel_hours (owner_id, mode, person_id, kind, hour, used)
       select $1, 'test', $2, 'access', date_trunc('hour', now(), 'UTC') + n * interval '1 hour', 10 from generate_series(0, 1) n`,
      [ownerId, id],
    )
    await bodyOf(client.people.link({ params: { id }, body: { send: 'email' } }))
    await allSent(ownerId)
    expect(mailsTo(email)).toEqual([])
    const kept = await service.sql('select url from person_links where person_id = $1', [id])
    expect(new Set(kept.map(({ url }) => url))).toEqual(new Set([null]))
  })

  test('waits for 24 hours after the address was changed', async () => {
    const { client } = await service.owner()
    const { id } = await invited(client, { email: anAddress() })
    const email = anAddress()
    await bodyOf(client.people.update({ params: { id }, body: { email } }))
    const send = () => client.people.link({ params: { id }, body: { send: 'email' } })
    expect(await send()).toMatchObject({ status: 400, code: 'email_changed_recently' })
    await bodyOf(client.sandbox.advance({ body: { minutes: 24 * 60 + 1 } }))
    const { url } = await bodyOf(send())
    expect(linkIn(await until('the mail', () => mailsTo(email)[0]))).toBe(url)
  })

  test('is refused where no mail server is set up, and a channel by e-mail as well', async () => {
    const { client } = await without.owner()
    const body = { name: 'Ada', role: 'owner', email: 'ada@example.com' } as const
    const refused = await client.people.create({ body: { ...body, send: 'email' } })
    expect(refused).toMatchObject({ status: 400, code: 'mail_not_configured' })
    expect(refused.error).toContain('SMTP_URL')
    const { id } = await bodyOf(client.people.create({ body }))
    const channel = await client.channels.create({ params: { id }, body: { type: 'email' } })
    expect(channel).toMatchObject({ code: 'mail_not_configured' })
    expect(await bodyOf(client.channels.settings())).toMatchObject({ emailAvailable: false })
  })
})

describe('the link of a recovery by e-mail', () => {
  const link = (id: string) => service.dash.people.link({ params: { id }, body: { send: 'email' } })

  test('goes to the address that was on record, after the 24 hours', async () => {
    const { client } = await service.owner()
    const email = anAddress()
    const { id } = await invited(client, { email })
    await bodyOf(service.dash.people.recover({ params: { id } }))
    expect(await link(id)).toMatchObject({ code: 'recovery_not_ready' })
    await bodyOf(client.sandbox.advance({ body: { minutes: 24 * 60 + 1 } }))
    const { url } = await bodyOf(link(id))
    const mailed = await until('the mail', () => mailsTo(email)[0])
    expect(linkIn(mailed)).toBe(url)
    expect(mailed.parsed.subject).toContain('is restored')
  })

  test('goes to no address that was set before it was sent', async () => {
    const { client, ownerId } = await service.owner()
    const [email, other] = [anAddress(), anAddress()]
    const { id } = await invited(client, { email })
    await recovering(client, id)
    mail.answerWith(email, 451)
    await bodyOf(link(id))
    await allSent(ownerId)
    await bodyOf(client.people.update({ params: { id }, body: { email: other } }))
    await service.sql('update channel_messages set due_at = now() where owner_id = $1', [ownerId])
    await allSent(ownerId)
    expect(mailsTo(other)).toEqual([])
  })

  test('does not go to an address that was set during the recovery, or in the day before', async () => {
    const { client } = await service.owner()
    const { id } = await invited(client, { email: anAddress() })
    const change = () => bodyOf(client.people.update({ params: { id }, body: { email: anAddress() } }))
    await change()
    await recovering(client, id)
    expect(await link(id)).toMatchObject({ status: 400, code: 'email_changed_recently' })
    await bodyOf(client.people.stopRecovery({ params: { id } }))
    await recovering(client, id)
    await change()
    expect(await link(id)).toMatchObject({ code: 'email_changed_recently' })
    expect((await service.dash.people.link({ params: { id }, body: {} })).status).toBe(201)
  })
})

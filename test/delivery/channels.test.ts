import './channels/emailed-links.ts'
import './channels/formats.ts'
import { describe, expect, test } from '@jest/globals'
import { newId } from '../../src/values/ids.ts'
import { forget } from '../support/compliance/forgotten.ts'
import { anAskingAgent, aWaitingIntent, codeIn, linkIn, SLACK, TEAMS } from '../support/delivery/channels.ts'
import { anAgentUnder, aSepaTransfer, bodyOf } from '../support/factories.ts'
import { http } from '../support/harness.ts'
import { Authenticator } from '../support/identity/authenticator.ts'
import { enrol, linkedChallenge, originOf, signed } from '../support/identity/people.ts'
import { until } from '../support/until.ts'
import { channels } from './channels/service.ts'

const {
  mail,
  hooks,
  service,
  mailsTo,
  aPersonAsked,
  create,
  verify,
  anEmailChannel,
  aWebhookChannel,
  allSent,
} = channels

describe('a channel', () => {
  test('gets its code and nothing else until the code was entered', async () => {
    const account = await service.owner()
    const person = await aPersonAsked(account)
    const channel = await create(person, { type: 'email' })
    expect(channel).toMatchObject({ type: 'email', verifiedAt: null, hours: null, language: 'en' })
    const { parsed } = await until('the code', () => mailsTo(person.address)[0])
    const agent = await anAskingAgent(account.client)
    await aWaitingIntent(account.client, agent.id)
    await allSent(account.ownerId)
    expect(mailsTo(person.address)).toHaveLength(1)
    expect(await bodyOf(verify(person, channel.id, codeIn(parsed.text)))).toMatchObject({
      verifiedAt: expect.any(String),
    })
    const { id } = await aWaitingIntent(account.client, agent.id, { merchant: 'Second bookshop' })
    const asked = await until('the question', () => mailsTo(person.address)[1])
    expect(linkIn(asked)).toBe(`${service.url.replace('127.0.0.1', 'localhost')}/approve/${id}`)
    expect(await verify(person, channel.id, '123456')).toMatchObject({ code: 'channel_verified' })
  })

  test('is refused the eleventh wrong code, even if the code is right then', async () => {
    const account = await service.owner()
    const person = await aPersonAsked(account)
    const channel = await create(person, { type: 'email' })
    const { parsed } = await until('the code', () => mailsTo(person.address)[0])
    const code = codeIn(parsed.text)
    const wrong = code === '000000' ? '000001' : '000000'
    for (let n = 0; n < 10; n++)
      expect(await verify(person, channel.id, wrong)).toMatchObject({ status: 400, code: 'wrong_code' })
    const answer = await verify(person, channel.id, code)
    expect(answer).toMatchObject({ status: 429, code: 'too_many_guesses' })
    await service.sql('delete from wrong_guesses')
    await service.sql('update channels set code_expires_at = now() where id = $1', [channel.id])
    expect(await verify(person, channel.id, code)).toMatchObject({ code: 'code_expired' })
  })

  test('keeps url and code sealed, and shows neither', async () => {
    const person = await aPersonAsked(await service.owner())
    const channel = await aWebhookChannel(person, 'slack')
    const unverified = await create(person, { type: 'teams', url: `${TEAMS}sealed` })
    const rows = await service.sql('select * from channels where person_id = $1', [person.personId])
    const { body } = await until('the code', () => hooks.to(`${TEAMS}sealed`)[0])
    const list = await bodyOf(person.client.channels.list({ params: { id: person.personId } }))
    for (const text of [JSON.stringify(rows), JSON.stringify(list), JSON.stringify(unverified)]) {
      expect(text).not.toContain(channel.url)
      expect(text).not.toContain(codeIn(JSON.stringify(body)))
    }
  })

  test.each([
    ['slack', null],
    ['slack', 'https://hooks.slack.com.example.com/services/1'],
    ['slack', 'https://hooks.slack.com:8443/services/1'],
    ['slack', 'https://ada@hooks.slack.com/services/1'],
    ['slack', `${TEAMS}1`],
    ['teams', `${SLACK}1`],
    ['teams', 'https://logic.azure.com.example.com/1'],
    ['teams', 'https://evillogic.azure.com.example/1'],
    ['teams', 'https://127.0.0.1/webhook.office.com'],
  ] as const)('of %s is refused with the address %s', async (type, url) => {
    const person = await aPersonAsked(await service.owner())
    const params = { id: person.personId }
    expect(await person.client.channels.create({ params, body: { type, url } })).toMatchObject({
      status: 400,
      code: 'webhook_refused',
    })
  })

  test('is one of at most ten of a person, of which one is e-mail', async () => {
    const person = await aPersonAsked(await service.owner())
    const params = { id: person.personId }
    await create(person, { type: 'email' })
    expect(await person.client.channels.create({ params, body: { type: 'email' } })).toMatchObject({
      code: 'channel_exists',
    })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        person.client.channels.create({ params, body: { type: 'slack', url: `${SLACK}many-${n}` } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(9)
    expect(answers.find(({ status }) => status === 400)).toMatchObject({ code: 'too_many_channels' })
  })

  test('is managed by its person, and by who may change people', async () => {
    const account = await service.owner()
    const viewer = await aPersonAsked(account, 'viewer')
    const approver = await aPersonAsked(account)
    const owner = await aPersonAsked(account, 'owner')
    const { id: channelId } = await anEmailChannel(viewer)
    const params = { id: viewer.personId, channelId }
    const hours = { from: 22, to: 6 }
    for (const attempt of [
      approver.client.channels.update({ params, body: { hours } }),
      approver.client.channels.delete({ params }),
      approver.client.channels.create({
        params: { id: viewer.personId },
        body: { type: 'slack', url: SLACK },
      }),
    ])
      expect(await attempt).toMatchObject({ status: 403, code: 'not_channel_owner' })
    expect(await bodyOf(viewer.client.channels.update({ params, body: { hours } }))).toMatchObject({ hours })
    expect(await bodyOf(owner.client.channels.update({ params, body: { hours: null } }))).toMatchObject({
      hours: null,
    })
    expect((await account.client.channels.delete({ params })).status).toBe(204)
    expect((await viewer.client.channels.delete({ params })).status).toBe(404)
  })

  test('ends with its person, and e-mail with another address', async () => {
    const account = await service.owner()
    const person = await aPersonAsked(account)
    await anEmailChannel(person)
    await aWebhookChannel(person, 'slack')
    const params = { id: person.personId }
    const types = async () =>
      (
        await service.sql<{ type: string }>('select type from channels where person_id = $1', [params.id])
      ).map(({ type }) => type)
    await bodyOf(account.client.people.update({ params, body: { email: `new-${person.address}` } }))
    expect(await types()).toEqual(['slack'])
    await bodyOf(account.client.people.remove({ params }))
    expect(await types()).toEqual([])
    const { data } = await bodyOf(account.client.events.list({ query: { event: 'channel.deleted' } }))
    expect(data.map(event => (event.data as { reason: string }).reason)).toEqual([
      'person_removed',
      'email_changed',
    ])
  })
})

test('the channels of an account end with its erasure', async () => {
  const account = await service.owner()
  const person = await aPersonAsked(account)
  await aWebhookChannel(person, 'slack')
  await forget(service, account)
  expect(await service.sql('select from channels where owner_id = $1', [account.ownerId])).toEqual([])
})

describe('a question', () => {
  test('goes to owners and approvers on every channel, and to no viewer, with agent, amount and link only', async () => {
    const account = await service.owner()
    const [owner, approver, viewer] = [
      await aPersonAsked(account, 'owner'),
      await aPersonAsked(account, 'approver'),
      await aPersonAsked(account, 'viewer'),
    ]
    await anEmailChannel(owner, { language: 'de' })
    await anEmailChannel(approver)
    await anEmailChannel(viewer)
    const slack = await aWebhookChannel(approver, 'slack')
    const teams = await aWebhookChannel(approver, 'teams', { language: 'de' })
    const agent = await anAskingAgent(account.client)
    const { id } = await aWaitingIntent(account.client, agent.id)
    const german = await until('the owner’s mail', () => mailsTo(owner.address)[1])
    const english = await until('the approver’s mail', () => mailsTo(approver.address)[1])
    await until('Slack', () => hooks.to(slack.url)[1])
    await until('Teams', () => hooks.to(teams.url)[1])
    await allSent(account.ownerId)
    expect(mailsTo(viewer.address)).toHaveLength(1)
    expect(german.parsed.subject).toBe('[Test] „Research assistant“ möchte 25,00 € ausgeben')
    expect(english.parsed.subject).toBe('[Test] “Research assistant” asks to spend € 25.00')
    for (const text of [
      english.parsed.text,
      english.parsed.html,
      JSON.stringify(hooks.to(slack.url)[1]?.body),
      JSON.stringify(hooks.to(teams.url)[1]?.body),
    ]) {
      expect(text).toContain('Research assistant')
      expect(text).toContain(`/approve/${id}`)
      expect(text).not.toContain('Bookshop')
      expect(text).not.toContain('caching')
    }
  })

  test('goes to the people whom the steps of the policy ask now, and again as a reminder and for the next people', async () => {
    const account = await service.owner()
    const [owner, approver] = [await aPersonAsked(account, 'owner'), await aPersonAsked(account, 'approver')]
    await anEmailChannel(owner)
    await anEmailChannel(approver)
    const step = { aboveEuros: 0, of: [approver.personId], need: 1, withinMinutes: 40, then: 'next' as const }
    const last = { ...step, aboveEuros: 1_000, of: 'owners' as const, then: 'deny' as const }
    const agent = await anAgentUnder(account.client, { approval: [step, last] })
    const pass = (minutes: number) => bodyOf(account.client.sandbox.advance({ body: { minutes } }))
    await aWaitingIntent(account.client, agent.id)
    await until('the question', () => mailsTo(approver.address)[1])
    await pass(21)
    await until('the reminder', () => mailsTo(approver.address)[2])
    await allSent(account.ownerId)
    expect(mailsTo(owner.address)).toHaveLength(1)
    await pass(20)
    await until('the next people', () => mailsTo(owner.address)[1])
  })

  test('goes at once to the people of other steps, and no more to those of the steps before', async () => {
    const account = await service.owner()
    const [owner, approver] = [await aPersonAsked(account, 'owner'), await aPersonAsked(account, 'approver')]
    await anEmailChannel(owner)
    await anEmailChannel(approver)
    const device = new Authenticator({ origin: originOf(service) })
    await enrol(account.client, owner.personId, device)
    const step = { aboveEuros: 0, need: 1, withinMinutes: 40, then: 'deny' as const }
    const agent = await anAgentUnder(account.client, { name: 'Books', approval: [{ ...step, of: 'owners' }] })
    const limits = { maxTransactionEuros: 50 }
    await aWaitingIntent(account.client, agent.id)
    const card = { type: 'new_card', agentId: agent.id, usage: 'multi', limits, reason: 'Papers' } as const
    await bodyOf(account.client.cardRequests.create({ body: card }))
    await until('the questions', () => mailsTo(owner.address)[2])
    const { id } = await bodyOf(account.client.policies.effective({ params: { agentId: agent.id } }))
    const body = { name: 'Books', approval: [{ ...step, of: [approver.personId], withinMinutes: 90 }] }
    const refused = await owner.client.policies.replace({ params: { id }, body })
    const webauthnAssertion = signed(await linkedChallenge(owner.client, refused), device)
    await bodyOf(owner.client.policies.replace({ params: { id }, body: { ...body, webauthnAssertion } }))
    const pass = (minutes: number) => bodyOf(account.client.sandbox.advance({ body: { minutes } }))
    await pass(1)
    await until('the new questions', () => mailsTo(approver.address)[2])
    await pass(50)
    await until('the reminders', () => mailsTo(approver.address)[4])
    await allSent(account.ownerId)
    expect(mailsTo(owner.address)).toHaveLength(3)
  })

  test('about a card request goes to the people of the steps, and again as a reminder', async () => {
    const account = await service.owner()
    const [owner, approver] = [await aPersonAsked(account, 'owner'), await aPersonAsked(account, 'approver')]
    await anEmailChannel(owner)
    await anEmailChannel(approver)
    const of = [approver.personId]
    const step = { aboveEuros: 0, of, need: 1, withinMinutes: 40, then: 'deny' as const }
    const agent = await anAgentUnder(account.client, { approval: [step] })
    const limits = { maxTransactionEuros: 50 }
    const body = { type: 'new_card', agentId: agent.id, usage: 'multi', limits, reason: 'Papers' } as const
    const { id } = await bodyOf(account.client.cardRequests.create({ body }))
    const question = await until('the question', () => mailsTo(approver.address)[1])
    expect(linkIn(question)).toContain(`/console/card-requests/${id}`)
    await bodyOf(account.client.sandbox.advance({ body: { minutes: 21 } }))
    await until('the reminder', () => mailsTo(approver.address)[2])
    await allSent(account.ownerId)
    expect(mailsTo(owner.address)).toHaveLength(1)
  })

  test('about a change goes to the people of its steps who have not signed it', async () => {
    const account = await service.owner()
    const people = [await aPersonAsked(account, 'owner'), await aPersonAsked(account, 'owner')]
    const approver = await aPersonAsked(account, 'approver')
    for (const person of [...people, approver]) await anEmailChannel(person)
    const step = { aboveEuros: 0, of: 'owners' as const, need: 2, withinMinutes: 40, then: 'deny' as const }
    const rules = { name: 'Books', dailyLimitEuros: 50, approval: [step] }
    const agent = await anAgentUnder(account.client, rules)
    const { id } = await bodyOf(account.client.policies.effective({ params: { agentId: agent.id } }))
    const body = { ...rules, dailyLimitEuros: 70 }
    const change = await bodyOf(account.client.policies.replace({ params: { id }, body }))
    for (const { address } of people) {
      const question = await until('the question', () => mailsTo(address)[1])
      expect(question.parsed.subject).toBe('[Test] A change waits for several people')
      expect(linkIn(question)).toContain(`/console/change-requests/${change.id}`)
      expect(question.parsed.text).not.toContain('70.00')
    }
    await allSent(account.ownerId)
    expect(mailsTo(approver.address)).toHaveLength(1)
  })

  test('goes to the deputy of a person who is asked', async () => {
    const account = await service.owner()
    const [owner, approver] = [await aPersonAsked(account, 'owner'), await aPersonAsked(account, 'approver')]
    await anEmailChannel(approver)
    await service.sql(
      `insert into deputies (owner_id, mode, id, created_at, updated_at, person_id, deputy_id, starts_at, ends_at)
       values ($1, 'test', $2, now(), now(), $3, $4, now() - interval '1 day', now() + interval '1 day')`,
      [account.ownerId, newId('deputy'), owner.personId, approver.personId],
    )
    const step = { aboveEuros: 0, of: 'owners' as const, need: 1, withinMinutes: 40, then: 'deny' as const }
    const agent = await anAgentUnder(account.client, { approval: [step] })
    const intent = await aWaitingIntent(account.client, agent.id)
    const question = await until('the question', () => mailsTo(approver.address)[1])
    expect(linkIn(question)).toContain(`/approve/${intent.id}`)
  })

  test('has payee and purpose once the owner has switched that on', async () => {
    const account = await service.owner()
    const owner = await aPersonAsked(account, 'owner')
    const approver = await aPersonAsked(account)
    await anEmailChannel(approver)
    const configure = { body: { includeDetails: true } }
    expect((await approver.client.channels.configure(configure)).status).toBe(403)
    expect(await bodyOf(owner.client.channels.settings())).toMatchObject({ includeDetails: false })
    expect(await bodyOf(owner.client.channels.configure(configure))).toMatchObject({
      includeDetails: true,
      emailAvailable: true,
    })
    const agent = await anAskingAgent(account.client)
    await aWaitingIntent(account.client, agent.id)
    const { parsed } = await until('the mail', () => mailsTo(approver.address)[1])
    expect(parsed.text).toContain('Payee: Bookshop')
    expect(parsed.text).toContain('Purpose: A paper on caching')
  })

  test('is not sent about what a policy has decided, or a person meanwhile', async () => {
    const account = await service.owner()
    const approver = await aPersonAsked(account)
    const { url } = await aWebhookChannel(approver, 'slack')
    const agent = await anAskingAgent(account.client)
    const approving = await anAgentUnder(account.client, { autoApproveLimitEuros: 100 })
    await aWaitingIntent(account.client, approving.id)
    const { id } = await aWaitingIntent(account.client, agent.id)
    await until('the question', () => hooks.to(url)[1])
    await bodyOf(account.client.intents.deny({ params: { id }, body: { reason: 'Not needed' } }))
    await service.sql(
      `insert into channel_messages (owner_id, mode, id, kind, subject_id, channel_id, person_id, created_at, due_at)
       select owner_id, mode, 'late', 'intent', $2, id, person_id, now(), now()
       from channels where owner_id = $1`,
      [account.ownerId, id],
    )
    await allSent(account.ownerId)
    expect(hooks.to(url)).toHaveLength(2)
  })

  test('is not sent outside of the hours of the channel', async () => {
    const account = await service.owner()
    const approver = await aPersonAsked(account)
    const hour = new Date().getUTCHours()
    const sleeping = { from: (hour + 2) % 24, to: (hour + 22) % 24 }
    const { url } = await aWebhookChannel(approver, 'slack', { hours: sleeping })
    const awake = await aWebhookChannel(approver, 'slack', {
      hours: { from: (hour + 23) % 24, to: (hour + 2) % 24 },
    })
    const agent = await anAskingAgent(account.client)
    await aWaitingIntent(account.client, agent.id)
    await until('the other channel', () => hooks.to(awake.url)[1])
    await allSent(account.ownerId)
    expect(hooks.to(url)).toHaveLength(1)
  })

  test('is asked twenty times an hour over all channels, and the last one says so', async () => {
    const account = await service.owner()
    const approver = await aPersonAsked(account)
    const channels = [await aWebhookChannel(approver, 'slack'), await aWebhookChannel(approver, 'teams')]
    const agent = await anAskingAgent(account.client)
    for (let n = 0; n < 13; n++) await aWaitingIntent(account.client, agent.id, { merchant: `Bookshop ${n}` })
    await allSent(account.ownerId)
    const texts = channels
      .flatMap(({ url }) => hooks.to(url).slice(1))
      .map(({ body }) => JSON.stringify(body))
    expect(texts).toHaveLength(20)
    expect(texts.filter(text => text.includes('You get no more messages this hour'))).toHaveLength(1)
    const rows = await service.sql(
      'select used, kind from channel_hours where person_id = $1 order by kind desc',
      [approver.personId],
    )
    expect(rows).toEqual([
      { used: 20, kind: 'questions' },
      { used: 2, kind: 'access' },
    ])
  })

  test('about a recovery is asked beyond that, of the person concerned as well', async () => {
    const account = await service.owner()
    const owner = await aPersonAsked(account, 'owner')
    const viewer = await aPersonAsked(account, 'viewer')
    await anEmailChannel(owner)
    await anEmailChannel(viewer)
    await service.sql(
      `insert into channel_hours values ($1, 'test', $2, 'questions', date_trunc('hour', now(), 'UTC'), 20)`,
      [account.ownerId, owner.personId],
    )
    await bodyOf(service.dash.people.recover({ params: { id: viewer.personId } }))
    const { parsed } = await until('the owner’s mail', () => mailsTo(owner.address)[1])
    await until('the viewer’s mail', () => mailsTo(viewer.address)[1])
    expect(parsed.subject).toBe('[Test] The access of “The viewer” is being recovered')
    expect(parsed.text).toContain(`/console/people/${viewer.personId}`)
  })

  test('about a card and about a doubtful payee leads to its page', async () => {
    const account = await service.owner()
    const { client } = account
    const approver = await aPersonAsked(account)
    const { url } = await aWebhookChannel(approver, 'slack')
    const agent = await anAskingAgent(client)
    const request = await bodyOf(
      client.cardRequests.create({
        body: {
          type: 'new_card',
          agentId: agent.id,
          usage: 'multi',
          limits: { maxTransactionEuros: 50 },
          reason: 'Papers',
        },
      }),
    )
    const asked = async (n: number) => JSON.stringify((await until('it', () => hooks.to(url)[n])).body)
    const about = await asked(1)
    expect(about).toContain(`/console/card-requests/${request.id}`)
    expect(about).toContain('€ 50.00')
    const transfer = await aSepaTransfer(client, { name: 'No Match GmbH' })
    await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
    expect(await asked(2)).toContain(`/console/transfers/${transfer.id}`)
    await allSent(account.ownerId)
    expect(hooks.to(url)).toHaveLength(3)
  })
})

describe('a name that an agent has chosen', () => {
  const hostile = 'A <b>bold</b> [agent](https://evil.example) <!channel>\u202e\u2066 & "x"'

  test('stays text in e-mail, Slack and Teams', async () => {
    const account = await service.owner()
    const approver = await aPersonAsked(account)
    await anEmailChannel(approver)
    const slack = await aWebhookChannel(approver, 'slack')
    const teams = await aWebhookChannel(approver, 'teams')
    const agent = await anAskingAgent(account.client)
    await service.sql('update agents set name = $2 where id = $1', [
      agent.id,
      `${hostile}\r\nBcc: eve@example.com`,
    ])
    await aWaitingIntent(account.client, agent.id)
    const { parsed, raw, to } = await until('the mail', () => mailsTo(approver.address)[1])
    const { body } = await until('Slack', () => hooks.to(slack.url)[1])
    const { body: card } = await until('Teams', () => hooks.to(teams.url)[1])
    expect(to).toEqual([approver.address])
    expect(parsed.headers.has('bcc')).toBe(false)
    expect(parsed.subject).not.toMatch(/[\u202e\u2066\r\n]/)
    expect(parsed.html).toContain('&lt;b&gt;bold&lt;/b&gt;')
    expect(parsed.html).not.toContain('<b>')
    expect(String(parsed.html)).not.toMatch(/<(img|script|link|iframe)\b/)
    expect(raw.toString()).not.toMatch(/^Bcc:/im)
    expect(body).toMatchObject({
      text: expect.stringContaining('&lt;!channel&gt;'),
      blocks: [{ text: { type: 'plain_text' } }, {}, {}],
    })
    const runs = JSON.stringify(card)
    expect(runs).toContain('[agent](https://evil.example)')
    expect(runs).not.toMatch(/"type":"(TextBlock|FactSet)"/)
  })
})

describe('a message that does not arrive', () => {
  test('is tried again under the same Message-ID, and given up where the server refuses it', async () => {
    const account = await service.owner()
    const approver = await aPersonAsked(account)
    const channel = await anEmailChannel(approver)
    mail.answerWith(approver.address, 451)
    const agent = await anAskingAgent(account.client)
    await aWaitingIntent(account.client, agent.id)
    const rows = () =>
      service.sql<{ id: string; attempts: number; place: number }>(
        'select id, attempts, place from channel_messages where owner_id = $1 and leased_by is null and attempts > 0',
        [account.ownerId],
      )
    const waiting = await until('the first attempt', async () => (await rows())[0])
    expect(waiting).toMatchObject({ attempts: 1, place: 1 })
    mail.answerWith(approver.address, 250)
    await service.sql(`update channel_messages set due_at = now() - interval '1 ms' where owner_id = $1`, [
      account.ownerId,
    ])
    await allSent(account.ownerId)
    const { parsed } = await until('the second attempt', () => mailsTo(approver.address)[1])
    expect(parsed.messageId).toBe(`<${waiting.id}@example.com>`)
    mail.answerWith(approver.address, 550)
    await aWaitingIntent(account.client, agent.id, { merchant: 'Another bookshop' })
    await allSent(account.ownerId)
    const params = { id: approver.personId }
    await until('the failure', async () => {
      const { data } = await bodyOf(approver.client.channels.list({ params }))
      return data.find(({ id }) => id === channel.id)?.failedAt
    })
  })

  test('because its process died is sent by another one, once more at most, under the same Message-ID', async () => {
    const account = await service.owner()
    const approver = await aPersonAsked(account)
    await anEmailChannel(approver)
    await service.sql(`create function taken_by_the_dead() returns trigger language plpgsql as $$ begin
      new.leased_by := 'dead'; new.leased_until := now() + interval '1 hour'; new.attempts := 1; return new; end $$`)
    await service.sql(
      'create trigger taken before insert on channel_messages for each row execute function taken_by_the_dead()',
    )
    const agent = await anAskingAgent(account.client)
    await aWaitingIntent(account.client, agent.id)
    await service.sql('drop trigger taken on channel_messages')
    const [row] = await service.sql<{ id: string }>('select id from channel_messages where owner_id = $1', [
      account.ownerId,
    ])
    expect(mailsTo(approver.address)).toHaveLength(1)
    // Only now: the service frees leases that are over, too.
    await service.sql(
      `insert into process_leases values ('dead', 'channel_messages', now() - interval '1 ms')`,
    )
    await service.sql(`select free_leases('channel_messages')`)
    await allSent(account.ownerId)
    expect(
      mailsTo(approver.address)
        .slice(1)
        .map(({ parsed }) => parsed.messageId),
    ).toEqual([`<${row?.id}@example.com>`])
  })

  test('holds up no other owner: at most seven of an owner are under way', async () => {
    const [slow, other] = [await service.owner(), await service.owner()]
    const person = await aPersonAsked(slow, 'approver')
    const held = [await aWebhookChannel(person, 'slack'), await aWebhookChannel(person, 'teams')]
    const approver = await aPersonAsked(other, 'approver')
    await anEmailChannel(approver)
    const [agent, theirs] = [await anAskingAgent(slow.client), await anAskingAgent(other.client)]
    for (const { url } of held) hooks.hold(url)
    for (let n = 0; n < 8; n++) await aWaitingIntent(slow.client, agent.id)
    await aWaitingIntent(other.client, theirs.id)
    await until('the question', () => mailsTo(approver.address)[1])
    expect(hooks.release()).toBeLessThanOrEqual(7)
    await allSent(slow.ownerId)
  })

  test('is not kept beyond an hour', async () => {
    const account = await service.owner()
    const approver = await aPersonAsked(account)
    const { id, url } = await aWebhookChannel(approver, 'slack')
    hooks.answerWith(url, 503)
    const agent = await anAskingAgent(account.client)
    await aWaitingIntent(account.client, agent.id)
    await until('the first attempt', () => hooks.to(url)[1])
    await until('it to be on record', async () => {
      const text =
        'select from channel_messages where channel_id = $1 and attempts = 1 and leased_until is null'
      return (await service.sql(text, [id])).length === 1
    })
    await service.sql(
      `update channel_messages set created_at = now() - interval '61 minutes', due_at = now() - interval '1 ms' where channel_id = $1`,
      [id],
    )
    await until('it to be dropped', async () => {
      return (await service.sql('select from channel_messages where channel_id = $1', [id])).length === 0
    })
    expect(hooks.to(url).length).toBeLessThanOrEqual(3)
  })
})

test('a thousand GETs of its link, as scanners make them, decide nothing', async () => {
  const account = await service.owner()
  const approver = await aPersonAsked(account)
  await anEmailChannel(approver)
  const agent = await anAskingAgent(account.client)
  const { id } = await aWaitingIntent(account.client, agent.id)
  const mailed = await until('the mail', () => mailsTo(approver.address)[1])
  const { pathname } = new URL(linkIn(mailed))
  const scans = [{}, { cookie: approver.cookie }]
  for (const [n, status] of [401, 200].entries())
    for (let round = 0; round < 50; round++) {
      const visit = () => http(service.url, 'GET', pathname, { headers: scans[n] ?? {} })
      for (const answer of await Promise.all(Array.from({ length: 10 }, visit)))
        expect(answer.status).toBe(status)
    }
  expect(await bodyOf(account.client.intents.get({ params: { id } }))).toMatchObject({ status: 'created' })
})

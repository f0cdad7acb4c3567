import { describe, expect, test } from '@jest/globals'
import { sealTrail } from '../../support/compliance/trail.ts'
import { storeDeliveries } from '../../support/delivery/deliveries.ts'
import { anAgent, aToken, aWebhook, bodyOf } from '../../support/factories.ts'
import { aPerson } from '../../support/identity/people.ts'
import { aVisitor, service, type Visitor } from './visitors.ts'

async function anAccount() {
  const visitor = await aVisitor()
  const { client } = visitor.owner
  const agent = await anAgent(client, { name: 'Scout' })
  const [run, delegation, webhook, token, person] = await Promise.all([
    bodyOf(client.runs.create({ body: { agentId: agent.id, name: 'Review', budgetEuros: 50 } })),
    bodyOf(
      client.delegations.create({
        body: { agentId: agent.id, maxAmountEuros: 20, expiresInMinutes: 60, label: 'Helper' },
      }),
    ),
    aWebhook(client, { events: ['*'], description: 'Bookkeeping' }),
    aToken(client, agent.id),
    bodyOf(client.people.create({ body: { name: 'Grace Hopper', role: 'approver' } })),
  ])
  return { ...visitor, agent, run, delegation, webhook, token, person }
}

const LISTS =
  'events webhooks deliveries audit people sso keys passkeys sign-ins devices tokens mandates delegations assistants runs identity onboarding deletions consent exports settings'
    .split(' ')
    .map(section => `console/${section}`)

const pageOf = async (read: Visitor['read'], path: string): Promise<string> => {
  const { status, text } = await read(path)
  expect([path, status]).toEqual([path, 200])
  return text
}

describe('the pages of an account', () => {
  test('show what there is, link to it, and offer it as CSV', async () => {
    const { read, run, delegation, webhook, person } = await anAccount()
    for (const path of LISTS) await pageOf(read, path)
    expect(await pageOf(read, 'console/runs')).toContain(`runs/${run.id}`)
    expect(await pageOf(read, 'console/delegations')).toContain('Scout')
    expect(await pageOf(read, 'console/people')).toContain('Grace Hopper')
    expect(await pageOf(read, 'console/webhooks')).toContain('Bookkeeping')
    for (const path of [
      `console/runs/${run.id}`,
      `console/delegations/${delegation.id}`,
      `console/webhooks/${webhook.id}`,
      `console/people/${person.id}`,
    ]) {
      const id = path.split('/').at(-1)
      const text = await pageOf(read, path)
      expect(text).toContain(`data-copy="${id}"`)
      expect(text).toMatch(new RegExp(`data-copy="agentpay [a-z-]+ get ${id}"`))
      expect(text).toMatch(new RegExp(`href="[./]+\\w+/${id}">View JSON`))
    }
    const tables = LISTS.filter(one => !one.endsWith('settings'))
    expect(tables).toHaveLength(20)
    for (const path of tables) expect((await read(path.replace('console/', 'console/csv/'))).status).toBe(200)
  })

  test('show a viewer no button that would be refused, but those of the own passkeys and sign-ins', async () => {
    const { owner, run, delegation, webhook, person, read } = await anAccount()
    const viewer = await aVisitor('viewer', owner)
    const records = [
      `console/runs/${run.id}`,
      `console/delegations/${delegation.id}`,
      `console/webhooks/${webhook.id}`,
      `console/people/${person.id}`,
    ]
    for (const path of [...LISTS, ...records]) {
      const seen = (await pageOf(viewer.read, path)).matchAll(/data-operation="([^"]+)"/g)
      for (const [, operation] of seen)
        expect(operation).toMatch(/^(DELETE|PATCH) \/(passkeys|console\/sessions)\//)
    }
    for (const path of records) expect(await pageOf(read, path)).toContain('data-operation=')
  })

  test('show the deputies of a person, whom that person and owners name and end', async () => {
    const { owner, read } = await aVisitor()
    const person = (name: string, role: 'approver' | 'viewer') => aPerson(service, owner, { name, role })
    const [ada, bob, eve] = await Promise.all([
      person('Ada Lovelace', 'approver'),
      person('Bob Noyce', 'approver'),
      person('Eve Viewer', 'viewer'),
    ])
    const path = `console/people/${ada.id}`
    const empty = await pageOf(read, path)
    expect(empty).toContain('No deputies.')
    expect(empty).toContain(`<option value="${bob.id}"`)
    for (const { id } of [ada, eve]) expect(empty).not.toContain(`<option value="${id}"`)
    const now = Date.now()
    const [from, until] = [now - 60_000, now + 86_400_000].map(at => new Date(at).toISOString())
    const body = { deputyId: bob.id, from: String(from), until: String(until) }
    await bodyOf(owner.client.deputies.create({ params: { id: ada.id }, body }))
    const ends = 'data-operation="DELETE /people/{id}/deputies/{recordId}"'
    const names = 'data-operation="POST /people/{id}/deputies"'
    const text = await pageOf(read, path)
    expect(text).toMatch(/Deputies[\s\S]*Bob Noyce/)
    for (const form of [ends, names]) expect(text).toContain(form)
    const approver = await aVisitor('approver', owner)
    const others = await pageOf(approver.read, path)
    expect(others).toContain('Bob Noyce')
    for (const form of [ends, names]) expect(others).not.toContain(form)
    expect(await pageOf(read, `console/people/${eve.id}`)).not.toContain(names)
  })

  test('show how far the audit trail is sealed, and verify it on request', async () => {
    const { read } = await aVisitor()
    expect(await pageOf(read, 'console/audit')).toContain('No entries are sealed yet')
    await sealTrail(service)
    const sealed = await pageOf(read, 'console/audit')
    expect(sealed).toMatch(/\d+ entries are sealed/)
    expect(sealed).not.toContain('The audit log is intact')
    expect(await pageOf(read, 'console/audit?part=trail&verify=now')).toMatch(
      /The audit log is intact\.<\/strong> \d+ entries/,
    )
  })

  test('say where nothing is what to do, with the button or the call that does it', async () => {
    const { read } = await aVisitor()
    for (const section of [
      'webhooks',
      'deliveries',
      'mandates',
      'delegations',
      'assistants',
      'runs',
      'tokens',
      'devices',
    ]) {
      const text = await pageOf(read, `console/${section}`)
      expect(text).toMatch(/class="empty">[\s\S]*(commandfor="POST-|data-copy="agentpay [a-z])/)
      for (const [, dialog] of text.matchAll(/commandfor="([^"]+)"/g))
        expect([section, dialog, text.split(`<dialog class="form" id="${dialog}"`).length]).toEqual([
          section,
          dialog,
          2,
        ])
    }
  })

  test('ask for the members of a mandate as its contract has them, those of its constraints too', async () => {
    const { read } = await anAccount()
    const text = await pageOf(read, 'console/mandates')
    expect(text).toMatch(/<input [^>]*type="number" name="constraints\.perMonthEuros"[^>]* data-empty="null"/)
    expect(text).toMatch(/<textarea [^>]*name="constraints\.merchants"[^>]* data-type="list"/)
    expect(text).toMatch(/<input [^>]*type="datetime-local" name="expiresAt"/)
  })

  test('tell what one request has caused, and only of the own account', async () => {
    const { owner, agent, read } = await anAccount()
    const { data } = await bodyOf(
      owner.client.events.list({ query: { agentId: agent.id, event: 'agent.created' } }),
    )
    const path = `console/causes/${data[0]?.requestId}`
    const text = await pageOf(read, path)
    for (const caused of ['agents.create', 'agent.created', 'wallet.created', `agents/${agent.id}`])
      expect(text).toContain(caused)
    expect(await pageOf((await aVisitor()).read, path)).not.toContain(agent.id)
  })

  test('show an event with its data, and its pending deliveries with their reasons', async () => {
    const { owner, read } = await anAccount()
    const agent = await anAgent(owner.client)
    const { data } = await bodyOf(
      owner.client.events.list({ query: { event: 'agent.created', agentId: agent.id } }),
    )
    await storeDeliveries(service)
    const event = await pageOf(read, `console/events/${data[0]?.id}`)
    expect(event).toContain(`agents/${agent.id}`)
    expect(event).toContain('Bookkeeping')
    const { data: deliveries } = await bodyOf(
      owner.client.webhooks.allDeliveries({ query: { eventId: String(data[0]?.id) } }),
    )
    const delivery = await pageOf(read, `console/deliveries/${deliveries[0]?.id}`)
    expect(delivery).toContain(String(deliveries[0]?.explanation).replaceAll("'", '&#39;'))
    expect(await pageOf(read, `console/deliveries?eventId=${data[0]?.id}`)).toContain(
      String(deliveries[0]?.id),
    )
  })

  test('say why a subscription is disabled', async () => {
    const { owner, read, webhook } = await anAccount()
    await service.sql(
      `update webhooks set status = 'disabled', status_reason = 'Its receiver is gone.' where id = $1`,
      [webhook.id],
    )
    for (const path of ['console/webhooks', `console/webhooks/${webhook.id}`])
      expect(await pageOf(read, path)).toContain('Its receiver is gone.')
    expect(await pageOf(read, `console/webhooks/${webhook.id}`)).toContain('>Enable</button>')
    expect(owner.ownerId).toBe(webhook.ownerId)
  })

  test('show in the frame of each page that the test clock is ahead', async () => {
    const { owner, read } = await aVisitor()
    expect(await pageOf(read, 'console/clock')).not.toContain('The test clock is ahead:')
    await bodyOf(owner.client.sandbox.advance({ body: { days: 3 } }))
    for (const path of ['console', 'console/clock', 'console/runs'])
      expect(await pageOf(read, path)).toMatch(/The test clock is ahead: \d+ \w+ \d{4} \d\d:\d\d UTC/)
  })
})

describe('the channels of a person', () => {
  test('are added, verified, changed and deleted on the person’s page, which says what is missing', async () => {
    const { owner, read, person } = await anAccount()
    const page = () => pageOf(read, `console/people/${person.id}`)
    const empty = await page()
    expect(empty).toContain('No channels yet.')
    expect(empty).toContain('E-mail is not set up here: the operator sets SMTP_URL and MAIL_FROM.')
    expect(empty).toContain('Add channel')
    expect(empty).not.toMatch(/<option value="email">/)
    const params = { id: person.id }
    const url = 'https://hooks.slack.com/services/T0/B0/console'
    const body = { type: 'slack', url, hours: { from: 7, to: 19 } } as const
    await bodyOf(owner.client.channels.create({ params, body }))
    const listed = await page()
    expect(listed).toContain('07:00 to 19:00')
    for (const button of ['Enter code', 'Delete']) expect(listed).toContain(button)
    expect(listed).not.toContain(url)
  })

  test('contain payee and purpose only after a warning on the settings page', async () => {
    const { owner, read } = await anAccount()
    expect(await pageOf(read, 'console/settings')).toContain('these data may leave the EU')
    await bodyOf(owner.client.channels.configure({ body: { includeDetails: true } }))
    expect(await pageOf(read, 'console/settings')).toContain('agent, amount, payee, purpose')
  })
})

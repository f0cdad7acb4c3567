import { describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { peopleInConsole } from '../support/identity/in-console.ts'
import {
  aPerson,
  assertion,
  type Enrolled,
  enrolled,
  linkedChallenge,
  signed,
} from '../support/identity/people.ts'

const service = await startTestService()

const DAY_MS = 86_400_000
const inDays = (count: number): string => new Date(Date.now() + count * DAY_MS).toISOString()

interface Span {
  readonly from: string
  readonly until: string
}

const span = (from: number, until: number): Span => ({ from: inDays(from), until: inDays(until) })

type Naming = Span & { readonly deputyId: string; readonly webauthnAssertion?: object }

const name = (client: TestClient, id: string, body: Naming) =>
  client.deputies.create({ params: { id }, body: body as never })

type Signer = Pick<Enrolled, 'device'>

/** Names a deputy with the signature of this person over the challenge that the refusal links to. */
async function nameSigned(client: TestClient, id: string, body: Naming, { device }: Signer) {
  const refused = await name(client, id, body)
  const webauthnAssertion = signed(await linkedChallenge(client, refused), device)
  return name(client, id, { ...body, webauthnAssertion })
}

const listed = async (client: TestClient, id: string) =>
  (await bodyOf(client.deputies.list({ params: { id } }))).data

const eventsOf = async (client: TestClient) =>
  (await bodyOf(client.events.list())).data
    .filter(({ event }) => event.startsWith('person.deputy'))
    .map(({ event, data }) => [event, (data as { personId: string }).personId])

/** Two approvers, an owner and a viewer of an account that has had no passkey: its key decides alone. */
async function anAccount() {
  const owner = await service.owner()
  const person = async (role: 'owner' | 'approver' | 'viewer') => (await aPerson(service, owner, { role })).id
  const [ada, bob, eve, viewer] = [
    await person('approver'),
    await person('approver'),
    await person('owner'),
    await person('viewer'),
  ]
  return { ...owner, ada, bob, eve, viewer }
}

describe('a deputy', () => {
  test('is named for a span, listed, and ended, with an event of each', async () => {
    const { client, ada, bob, ownerId } = await anAccount()
    const body = { deputyId: bob, ...span(1, 8) }
    const deputy = await bodyOf(name(client, ada, body))
    expect(deputy).toEqual({
      id: expect.stringMatching(/^deputy_/),
      ownerId,
      mode: 'test',
      personId: ada,
      ...body,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await listed(client, ada)).toEqual([deputy])
    expect(await listed(client, bob)).toEqual([])
    const params = { id: ada, recordId: deputy.id }
    expect((await client.deputies.end({ params })).status).toBe(204)
    expect(await listed(client, ada)).toEqual([])
    expect(await eventsOf(client)).toEqual([
      ['person.deputy_ended', ada],
      ['person.deputy_named', ada],
    ])
    expect(await client.deputies.end({ params })).toMatchObject({ status: 404, code: 'deputy_not_found' })
  })

  test('is refused for whom it cannot be, and for a span that is none', async () => {
    const { client, ada, bob, viewer } = await anAccount()
    const week = span(1, 8)
    const { id: invited } = await bodyOf(client.people.create({ body: { name: 'Grace', role: 'approver' } }))
    const stranger = (await anAccount()).bob
    const cases: [id: string, body: Naming, code: string][] = [
      [ada, { deputyId: ada, ...week }, 'own_deputy'],
      [ada, { deputyId: viewer, ...week }, 'deputy_not_approver'],
      [ada, { deputyId: invited, ...week }, 'deputy_not_approver'],
      [ada, { deputyId: stranger, ...week }, 'person_not_found'],
      [viewer, { deputyId: bob, ...week }, 'person_not_approver'],
      [invited, { deputyId: bob, ...week }, 'person_not_approver'],
      [stranger, { deputyId: bob, ...week }, 'person_not_found'],
      [ada, { deputyId: bob, ...span(2, 1) }, 'invalid_span'],
      [ada, { deputyId: bob, ...span(-2, -1) }, 'invalid_span'],
      [ada, { deputyId: bob, ...span(91, 92) }, 'invalid_span'],
      [ada, { deputyId: bob, ...span(1, 92) }, 'invalid_span'],
    ]
    for (const [id, body, code] of cases)
      expect([code, (await name(client, id, body)).code]).toEqual([code, code])
    expect(await listed(client, ada)).toEqual([])
    expect((await name(client, ada, { deputyId: bob, ...span(-1, 1) })).status).toBe(201)
  })

  test('is refused where spans of the person overlap, also at once; one may follow another', async () => {
    const { client, ada, bob, eve } = await anAccount()
    const week = span(1, 8)
    const answers = await times(4, n => name(client, ada, { deputyId: n % 2 ? bob : eve, ...week }))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    expect(await name(client, ada, { deputyId: eve, ...span(7, 9) })).toMatchObject({
      status: 400,
      code: 'deputies_overlap',
    })
    const next = { deputyId: eve, from: week.until, until: inDays(9) }
    expect((await name(client, ada, next)).status).toBe(201)
    expect((await name(client, bob, { deputyId: eve, ...week })).status).toBe(201)
  })

  test('is refused beyond twenty whose spans are not over', async () => {
    const { client, ada, bob } = await anAccount()
    const first = await bodyOf(name(client, ada, { deputyId: bob, ...span(1, 1.5) }))
    for (let day = 2; day <= 20; day++)
      await bodyOf(name(client, ada, { deputyId: bob, ...span(day, day + 0.5) }))
    const another = () => name(client, ada, { deputyId: bob, ...span(30, 31) })
    expect(await another()).toMatchObject({ status: 400, code: 'too_many_deputies' })
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 * 24 * 60 } }))
    expect((await another()).status).toBe(201)
    const params = { id: ada, recordId: first.id }
    expect(await client.deputies.end({ params })).toMatchObject({ status: 400, code: 'deputy_over' })
  })

  test('ends when one of both is removed or may no longer approve', async () => {
    const { client, ada, bob, eve } = await anAccount()
    const all = async () => {
      for (const [id, deputyId] of [
        [ada, bob],
        [bob, eve],
        [eve, ada],
      ] as const)
        await bodyOf(name(client, id, { deputyId, ...span(1, 8) }))
    }
    const left = async () =>
      (await Promise.all([ada, bob, eve].map(id => listed(client, id)))).map(({ length }) => length)
    await all()
    const update = (role: 'viewer' | 'approver' | 'owner') =>
      client.people.update({ params: { id: bob }, body: { role } })
    await bodyOf(update('owner'))
    expect(await left()).toEqual([1, 1, 1])
    await bodyOf(update('viewer'))
    expect(await left()).toEqual([0, 0, 1])
    await bodyOf(client.people.remove({ params: { id: ada } }))
    expect((await listed(client, eve)).length).toBe(0)
    expect((await eventsOf(client)).filter(([event]) => event === 'person.deputy_ended')).toHaveLength(3)
  })
})

test('a key needs people:write, and the scope to approve', async () => {
  const { client, ada, bob } = await anAccount()
  const withScopes = async (...scopes: string[]) => {
    const body = { name: 'Narrow', environment: 'sandbox', scopes } as never
    return service.client(String((await bodyOf(client.keys.create({ body }))).key))
  }
  const body = { deputyId: bob, ...span(1, 8) }
  const approving = await withScopes('intents:approve')
  expect(await name(approving, ada, body)).toMatchObject({ status: 403, code: 'not_own_deputies' })
  const managing = await withScopes('people:write')
  expect(await name(managing, ada, body)).toMatchObject({ status: 403, code: 'missing_scope' })
  const { id: recordId } = await bodyOf(name(client, ada, body))
  expect(await approving.deputies.end({ params: { id: ada, recordId } })).toMatchObject({
    code: 'not_own_deputies',
  })
  expect(
    (await name(await withScopes('intents:approve', 'people:write'), bob, { ...body, deputyId: ada })).status,
  ).toBe(201)
})

describe('once the account has had a passkey, a key', () => {
  test('names a deputy with the signature of the person or an owner, over exactly that, once', async () => {
    const owner = await service.owner()
    const { client } = owner
    const boss = await enrolled(service, owner, { name: 'Eve' })
    const ada = await enrolled(service, owner, { role: 'approver', name: 'Ada', by: boss })
    const bob = await enrolled(service, owner, { role: 'approver', name: 'Bob', by: boss })
    const body = { deputyId: bob.personId, ...span(1, 8) }
    const refused = await name(client, ada.personId, { ...body, ...span(1, 8) })
    expect(refused).toMatchObject({ status: 400, code: 'assertion_required' })
    expect((await linkedChallenge(client, refused)).sentence).toMatch(
      /^Let another person approve\. For the person “Ada” \(person_\w+\): Deputy from none to “Bob” \(person_\w+\), \d+ \w+ \d{4} \d\d:\d\d UTC to .* UTC\.$/,
    )
    const week = { deputyId: bob.personId, ...span(1, 8) }
    expect(await nameSigned(client, ada.personId, week, bob)).toMatchObject({
      status: 403,
      code: 'insufficient_role',
    })
    const challenge = await linkedChallenge(client, await name(client, ada.personId, week))
    const webauthnAssertion = signed(challenge, ada.device)
    const longer = { ...week, until: inDays(9), webauthnAssertion }
    expect(await name(client, ada.personId, longer)).toMatchObject({ code: 'statement_outdated' })
    expect(await name(client, ada.personId, { ...week, webauthnAssertion })).toMatchObject({
      code: 'challenge_used',
    })
    expect((await nameSigned(client, ada.personId, week, ada)).status).toBe(201)
    const next = { deputyId: boss.personId, ...span(10, 11) }
    expect((await nameSigned(client, ada.personId, next, boss)).status).toBe(201)
    const invitation = await assertion(client, boss, {
      purpose: 'invitation',
      subject: { personId: ada.personId, role: 'owner' },
    })
    const other = { deputyId: boss.personId, ...span(12, 13), webauthnAssertion: invitation }
    expect(await name(client, ada.personId, other)).toMatchObject({ code: 'statement_outdated' })
  })
})

describe('in the console', () => {
  test('people name and end deputies for themselves with their passkey, and owners for others', async () => {
    const owner = await service.owner()
    const [boss, ada, viewer] = await peopleInConsole(service, owner, ['owner', 'approver', 'viewer'])
    if (!boss || !ada || !viewer) throw new Error('someone is missing')
    const week = { deputyId: boss.personId, ...span(1, 8) }
    expect(await name(ada.client, ada.personId, week)).toMatchObject({ code: 'assertion_required' })
    expect(await nameSigned(ada.client, ada.personId, week, boss)).toMatchObject({ status: 401 })
    const named = await bodyOf(nameSigned(ada.client, ada.personId, week, ada))
    const forBoss = { deputyId: ada.personId, ...span(1, 8) }
    for (const by of [ada, viewer]) expect((await name(by.client, boss.personId, forBoss)).status).toBe(403)
    const params = { id: ada.personId, recordId: named.id }
    expect((await viewer.client.deputies.end({ params })).status).toBe(403)
    expect((await ada.client.deputies.end({ params })).status).toBe(204)
    const byOwner = await bodyOf(nameSigned(boss.client, ada.personId, week, boss))
    const bosses = await bodyOf(nameSigned(boss.client, boss.personId, forBoss, boss))
    const ofBoss = { id: boss.personId, recordId: bosses.id }
    expect(await ada.client.deputies.end({ params: ofBoss })).toMatchObject({ code: 'not_own_deputies' })
    expect(
      (await boss.client.deputies.end({ params: { id: ada.personId, recordId: byOwner.id } })).status,
    ).toBe(204)
    expect(await listed(viewer.client, boss.personId)).toHaveLength(1)
  })

  test('a person without a passkey names none', async () => {
    const owner = await service.owner()
    const [boss, ada] = await peopleInConsole(service, owner, ['owner', 'approver'])
    if (!boss || !ada) throw new Error('someone is missing')
    await service.sql('update passkeys set revoked_at = now() where person_id = $1', [ada.personId])
    const week = { deputyId: boss.personId, ...span(1, 8) }
    expect(await name(ada.client, ada.personId, week)).toMatchObject({ code: 'passkey_required' })
  })
})

import { describe, expect, test } from '@jest/globals'
import type { areas } from '../../../src/areas.ts'
import { times } from '../../support/at-once.ts'
import { aKey, anAgent, anAgentUnder, aPolicy, bodyOf, type TestClient } from '../../support/factories.ts'
import { type Owner, startTestService } from '../../support/harness.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { redeem } from '../../support/identity/console.ts'
import { type InConsole, nameDeputy, peopleInConsole } from '../../support/identity/in-console.ts'
import { aPerson, assertion, linkedChallenge, originOf, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })

const twoOwners = { aboveEuros: 20, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const

/** Two owners, an approver and a viewer with passkeys, and an agent whose payments above € 20.00 two owners approve. */
async function anOffice(steps: readonly object[] = [twoOwners]) {
  const owner: Owner<typeof areas> = await service.owner()
  const scopes = ['policies:read', 'intents:approve']
  const narrow = service.client(String((await aKey(owner.client, { scopes: scopes as never })).key))
  const people = await peopleInConsole(service, owner, ['owner', 'owner', 'approver', 'viewer'])
  const [ada, bob, clerk, viewer] = people as [InConsole, InConsole, InConsole, InConsole]
  const agent = await anAgentUnder(owner.client, { approval: steps as never })
  return { ...owner, ada, bob, clerk, viewer, agent, narrow }
}

const idOf = ({ body }: { readonly body: unknown }): string => (body as { id: string }).id

async function signatureOf({ device, client }: InConsole, id: string) {
  const asked = await client.changeRequests.approve({ params: { id }, body: {} })
  return signed(await linkedChallenge(client, asked), device)
}

async function approveBy(person: InConsole, id: string) {
  const webauthnAssertion = await signatureOf(person, id)
  return person.client.changeRequests.approve({
    params: { id },
    body: { webauthnAssertion },
  })
}

const consentOf = (person: InConsole, subject: object) =>
  assertion(person.client, person, { purpose: 'invitation', subject: subject as never })

type Role = 'owner' | 'approver' | 'viewer'

async function changeRole(by: InConsole, { personId }: Pick<InConsole, 'personId'>, role: Role) {
  const webauthnAssertion = await consentOf(by, { personId, role })
  return by.client.people.update({ params: { id: personId }, body: { role, webauthnAssertion } })
}

async function invite(by: InConsole, role: Role, more: object = {}) {
  const subject = { name: 'Grace', email: 'grace@example.com', role }
  const webauthnAssertion = await consentOf(by, subject)
  return by.client.people.create({ body: { ...subject, ...more, webauthnAssertion } })
}

const roleOf = async (client: TestClient, { personId }: InConsole) =>
  (await bodyOf(client.people.get({ params: { id: personId } }))).role

const named = async (client: TestClient, name: string) =>
  (await bodyOf(client.people.list())).data.find(person => person.name === name)

describe('a change of who approves where a policy asks several people', () => {
  test('by a new role waits for another owner, and is then made', async () => {
    const { client, ada, bob, clerk } = await anOffice()
    const answer = await changeRole(ada, clerk, 'owner')
    expect(answer).toMatchObject({
      status: 202,
      body: {
        operation: 'people.update',
        personId: clerk.personId,
        changes: [
          { of: 'person', id: clerk.personId, field: 'Role', from: 'approver', to: 'owner' },
          { field: 'Passkey', from: 'none', to: expect.stringMatching(/^“Phone”, enrolled /) },
        ],
        approval: { given: 1, needed: 2, approvals: [{ personId: ada.personId }] },
      },
    })
    expect(await roleOf(client, clerk)).toBe('approver')
    expect(await approveBy(ada, idOf(answer))).toMatchObject({ code: 'already_approved' })
    expect(await approveBy(bob, idOf(answer))).toMatchObject({ body: { status: 'applied', joinUrl: null } })
    expect(await roleOf(client, clerk)).toBe('owner')
  })

  test('by a new role names who approves as the person then, and ends what one owner has begun', async () => {
    const { ada, bob, clerk } = await anOffice()
    const params = { id: clerk.personId }
    const consent = await consentOf(ada, { personId: clerk.personId })
    const { url } = await bodyOf(ada.client.people.link({ params, body: { webauthnAssertion: consent } }))
    await nameDeputy(clerk, bob)
    const answer = await changeRole(ada, clerk, 'owner')
    const { changes } = answer.body as unknown as { changes: readonly { field: string }[] }
    expect(changes.map(({ field }) => field)).toEqual(['Role', 'Passkey', 'Deputy'])
    const enrolment = { purpose: 'enrolment', subject: clerk.personId } as const
    const webauthnAssertion = await assertion(ada.client, ada, enrolment)
    const { challengeId, options } = await bodyOf(
      ada.client.passkeys.registerOptions({ body: { personId: clerk.personId, webauthnAssertion } }),
    )
    expect(await approveBy(bob, idOf(answer))).toMatchObject({ body: { status: 'applied' } })
    expect((await redeem(service.url, url)).status).toBe(410)
    const registration = new Authenticator({ origin: originOf(service) }).register(options)
    const body = { challengeId, name: 'Phone', registration }
    expect(await ada.client.passkeys.registerVerify({ body })).toMatchObject({ code: 'assertion_required' })
  })

  test('waits for the people of each policy, however many another one asks', async () => {
    const owner = await service.owner()
    const people = await peopleInConsole(service, owner, [
      'owner',
      'owner',
      'approver',
      'approver',
      'approver',
    ])
    const [ada, bob, ...helpers] = people as [InConsole, InConsole, ...InConsole[]]
    const [first, second, third] = helpers as [InConsole, InConsole, InConsole]
    const ofHelpers = { ...twoOwners, of: helpers.map(({ personId }) => personId), need: 3 }
    const agents = [await anAgent(owner.client), await anAgent(owner.client)]
    // Both are older than the first steps: the second one asks others.
    for (const [place, approval] of [
      [twoOwners],
      [{ ...twoOwners, need: 1, then: 'next' } as const, ofHelpers],
    ].entries()) {
      const { id: policyId } = await aPolicy(owner.client, { approval })
      const params = { agentId: String(agents[place]?.id) }
      await bodyOf(owner.client.policies.assign({ params, body: { policyId } }))
    }
    const id = idOf(await changeRole(ada, first, 'owner'))
    for (const helper of [first, second, third])
      expect(await approveBy(helper, id)).toMatchObject({ body: { status: 'waiting' } })
    expect(await roleOf(owner.client, first)).toBe('approver')
    expect(await approveBy(bob, id)).toMatchObject({ body: { status: 'applied' } })
    expect(await roleOf(owner.client, first)).toBe('owner')
  })

  test('is refused where more groups of people would have to approve it than can together', async () => {
    const { client, ada, clerk } = await anOffice()
    const people = Array.from({ length: 21 }, (_, n) => `person_${String(n).padStart(26, '0')}`)
    const first = { ...twoOwners, aboveCents: '1', aboveEuros: undefined }
    for (const person of people) {
      const { id } = await anAgentUnder(client, { approval: [twoOwners] })
      const steps = JSON.stringify([first, { ...first, of: [person] }])
      await service.sql('update policies set approval = $2 where agent_id = $1', [id, steps])
    }
    expect(await changeRole(ada, clerk, 'owner')).toMatchObject({
      code: 'too_few_approvers',
      body: { error: expect.stringContaining('name 22 different groups of them, and at most 20') },
    })
  })

  test('is made at once where it makes no one an approver of a step, or takes that away', async () => {
    const { client, ada, bob, clerk, viewer } = await anOffice()
    expect((await changeRole(ada, viewer, 'approver')).status).toBe(200)
    expect((await invite(ada, 'approver')).status).toBe(201)
    expect((await changeRole(ada, bob, 'approver')).status).toBe(200)
    const { personId: id } = clerk
    expect((await client.people.remove({ params: { id } })).status).toBe(200)
  })

  test('waits where the step names the person, or asks approvers', async () => {
    const { client, ada, bob, clerk } = await anOffice([])
    await anAgentUnder(client, {
      approval: [{ ...twoOwners, of: [ada.personId, bob.personId, clerk.personId] }],
    })
    expect((await changeRole(ada, clerk, 'viewer')).status).toBe(200)
    expect((await changeRole(ada, clerk, 'approver')).status).toBe(202)
    const { ada: eve, viewer } = await anOffice([{ ...twoOwners, of: 'approvers' }])
    expect((await changeRole(eve, viewer, 'approver')).status).toBe(202)
  })

  test('by an invitation waits, and who approves last has the link', async () => {
    const { client, ada, bob, ownerId } = await anOffice()
    const answer = await invite(ada, 'owner')
    expect(answer).toMatchObject({
      status: 202,
      body: {
        operation: 'people.create',
        changes: [
          { field: 'Role', from: 'none', to: 'owner, “grace@example.com”' },
          {
            field: 'Link',
            to: 'shown to the last person who approves, to be handed over to “grace@example.com”',
          },
        ],
      },
    })
    expect(JSON.stringify(answer.body)).not.toContain('lnk_')
    expect(await named(client, 'Grace')).toBeUndefined()
    const webauthnAssertion = await signatureOf(bob, idOf(answer))
    const approve = () =>
      bob.client.changeRequests.approve({
        params: { id: idOf(answer) },
        body: { webauthnAssertion },
        idempotencyKey: 'the-last',
      })
    expect(await approve()).toMatchObject({
      status: 200,
      body: { status: 'applied', joinUrl: expect.stringMatching(/\/join#lnk_/) },
    })
    expect(await named(client, 'Grace')).toMatchObject({ status: 'invited', role: 'owner' })
    expect((await approve()).body).toMatchObject({ status: 'applied', joinUrl: null })
    const stored = await Promise.all([
      service.sql('select * from change_requests where id = $1', [idOf(answer)]),
      service.sql('select * from idempotency_keys where owner_id = $1', [ownerId]),
    ])
    expect(JSON.stringify(stored)).not.toContain('lnk_')
  })

  test('by an invitation is outdated once another person has the email', async () => {
    const { client, ada, bob } = await anOffice()
    const answer = await invite(ada, 'owner')
    await bodyOf(invite(ada, 'viewer', {}))
    expect(await approveBy(bob, idOf(answer))).toMatchObject({
      status: 409,
      code: 'change_request_outdated',
    })
    expect((await bodyOf(client.changeRequests.list({ query: { status: 'outdated' } }))).data).toMatchObject([
      { id: idOf(answer) },
    ])
  })

  test('by a link for another approver waits; a link for oneself does not', async () => {
    const { ada, bob, viewer } = await anOffice()
    const linkFor = async ({ personId }: InConsole) => {
      const webauthnAssertion = await consentOf(ada, { personId })
      return ada.client.people.link({ params: { id: personId }, body: { webauthnAssertion } })
    }
    expect((await linkFor(viewer)).status).toBe(201)
    expect((await linkFor(ada)).status).toBe(201)
    const answer = await linkFor(bob)
    expect(answer).toMatchObject({ status: 202, body: { operation: 'people.link', personId: bob.personId } })
    expect(await approveBy(bob, idOf(answer))).toMatchObject({
      body: { status: 'applied', joinUrl: expect.stringMatching(/\/join#lnk_/) },
    })
  })

  test('is refused by a sign-in link for another approver, invited or active', async () => {
    const { client, ada, bob, clerk } = await anOffice()
    await bodyOf(approveBy(bob, idOf(await invite(ada, 'owner'))))
    const grace = String((await named(client, 'Grace'))?.id)
    const linkFor = async (personId: string) => {
      const webauthnAssertion = await consentOf(ada, { personId })
      return ada.client.console.createLink({ body: { personId, webauthnAssertion } })
    }
    const refused = { status: 403, code: 'link_needs_approvals' }
    expect(await linkFor(grace)).toMatchObject(refused)
    expect(await linkFor(bob.personId)).toMatchObject(refused)
    expect((await linkFor(ada.personId)).status).toBe(201)
    expect((await linkFor(clerk.personId)).status).toBe(201)
  })

  test('by a link is outdated once the person has another email, which an identity provider may let in', async () => {
    const { client, ada, bob } = await anOffice()
    const rename = (email: string) =>
      bodyOf(client.people.update({ params: { id: bob.personId }, body: { email } }))
    await rename('bob@example.com')
    const webauthnAssertion = await consentOf(ada, { personId: bob.personId })
    const answer = await ada.client.people.link({ params: { id: bob.personId }, body: { webauthnAssertion } })
    expect(answer).toMatchObject({
      status: 202,
      body: { changes: [{ field: 'Link', to: expect.stringContaining('“bob@example.com”') }] },
    })
    await rename('mallory@example.com')
    expect(await approveBy(bob, idOf(answer))).toMatchObject({ status: 409, code: 'change_request_outdated' })
  })

  test('by a deputy waits, and the deputy counts from then on', async () => {
    const { client, ada, bob, clerk } = await anOffice()
    const params = { id: ada.personId }
    const from = new Date().toISOString()
    const until = new Date(Date.now() + 86_400_000).toISOString()
    const body = { deputyId: clerk.personId, from, until }
    const asked = await ada.client.deputies.create({ params, body })
    const webauthnAssertion = signed(await linkedChallenge(ada.client, asked), ada.device)
    const answer = await ada.client.deputies.create({ params, body: { ...body, webauthnAssertion } })
    expect(answer).toMatchObject({ status: 202, body: { operation: 'deputies.create' } })
    expect((await bodyOf(client.deputies.list({ params }))).data).toEqual([])
    await bodyOf(approveBy(bob, idOf(answer)))
    expect((await bodyOf(client.deputies.list({ params }))).data).toMatchObject([body])
  })

  test('is refused by enrolling a passkey for another person, who gets a link in place of that', async () => {
    const { ada, bob, clerk } = await anOffice()
    const enrolFor = async ({ personId }: InConsole) => {
      const webauthnAssertion = await assertion(ada.client, ada, {
        purpose: 'enrolment',
        subject: personId as never,
      })
      return ada.client.passkeys.registerOptions({ body: { personId, webauthnAssertion } })
    }
    expect(await enrolFor(bob)).toMatchObject({ status: 403, code: 'enrolled_by_person' })
    expect((await enrolFor(clerk)).status).toBe(201)
  })

  test('is refused where too few people are left, until no policy asks for them', async () => {
    const { client, ada, bob, clerk, agent } = await anOffice()
    await bodyOf(client.people.remove({ params: { id: bob.personId } }))
    expect(await changeRole(ada, clerk, 'owner')).toMatchObject({ status: 400, code: 'too_few_approvers' })
    // The way out waits for three days.
    await bodyOf(client.sandbox.advance({ body: { days: 3 } }))
    await client.agents.delete({ params: { id: agent.id } })
    expect((await changeRole(ada, clerk, 'owner')).status).toBe(200)
  })

  test('is made once by many approvals at once', async () => {
    const { client, ada, bob, clerk } = await anOffice()
    const id = idOf(await changeRole(ada, clerk, 'owner'))
    const signatures = await times(8, () => signatureOf(bob, id))
    const answers = await times(8, n =>
      bob.client.changeRequests.approve({
        params: { id },
        body: { webauthnAssertion: signatures[n] as never },
      }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await roleOf(client, clerk)).toBe('owner')
  })

  test('counts by a key only with the passkey of an owner', async () => {
    const { client, ada, clerk } = await anOffice()
    const update = (body: object) => client.people.update({ params: { id: clerk.personId }, body })
    expect(await update({ role: 'owner' })).toMatchObject({ code: 'assertion_required' })
    const webauthnAssertion = await consentOf(ada, { personId: clerk.personId, role: 'owner' })
    expect(await update({ role: 'owner', webauthnAssertion })).toMatchObject({
      status: 202,
      body: { approval: { given: 1, needed: 2 } },
    })
  })

  test('is shown and decided only by who may read people', async () => {
    const { ada, bob, clerk, narrow } = await anOffice()
    const params = { id: idOf(await changeRole(ada, clerk, 'owner')) }
    expect((await bodyOf(narrow.changeRequests.list())).data).toEqual([])
    for (const answer of [
      await narrow.changeRequests.get({ params }),
      await narrow.changeRequests.approve({ params, body: {} }),
      await narrow.changeRequests.reject({ params, body: { reason: 'No' } }),
    ])
      expect(answer).toMatchObject({ status: 404, code: 'change_request_not_found' })
    expect((await bodyOf(bob.client.changeRequests.get({ params }))).status).toBe('waiting')
  })

  test('asks those whom the policies ask meanwhile, and then forgets what was asked for', async () => {
    const { client, ada, bob, clerk, agent } = await anOffice()
    const id = idOf(await changeRole(ada, clerk, 'owner'))
    const params = { id: (await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))).id }
    const asksAlso = { ...twoOwners, of: [clerk.personId], need: 1 }
    const { aboveEuros: _, ...stored } = { ...asksAlso, aboveCents: '500000' }
    await service.sql(`update policies set approval = approval || $2::jsonb where id = $1`, [
      params.id,
      JSON.stringify([stored]),
    ])
    expect(await approveBy(bob, id)).toMatchObject({
      body: { status: 'waiting', approval: { given: 2, needed: 3, awaits: [clerk.personId] } },
    })
    expect(await roleOf(client, clerk)).toBe('approver')
    expect(await approveBy(clerk, id)).toMatchObject({ body: { status: 'applied' } })
    expect(await service.sql('select write from change_requests where id = $1', [id])).toEqual([
      { write: { operation: 'people.update' } },
    ])
  })

  test('forgets what was asked for once too few have approved in time', async () => {
    const { client, ada } = await anOffice()
    const { body } = await invite(ada, 'owner')
    await bodyOf(client.sandbox.advance({ body: { days: 4 } }))
    expect(await bodyOf(client.changeRequests.get({ params: { id: body.id } }))).toMatchObject({
      status: 'expired',
      operation: 'people.create',
    })
    expect(await service.sql('select write from change_requests where id = $1', [body.id])).toEqual([
      { write: { operation: 'people.create' } },
    ])
  })

  test('ends when the person is removed', async () => {
    const { client, ada, bob, clerk } = await anOffice()
    const id = idOf(await changeRole(ada, clerk, 'owner'))
    await bodyOf(client.people.remove({ params: { id: clerk.personId } }))
    expect(await approveBy(bob, id)).toMatchObject({ status: 409, code: 'change_request_outdated' })
  })

  test('is made at once before the account has had a passkey, since no one can sign', async () => {
    const owner = await service.owner()
    const { client } = owner
    for (const role of ['owner', 'owner'] as const) await aPerson(service, owner, { role })
    const { id } = await aPerson(service, owner, { role: 'viewer' })
    await anAgentUnder(client, { approval: [twoOwners] })
    expect((await client.people.update({ params: { id }, body: { role: 'owner' } })).status).toBe(200)
  })
})

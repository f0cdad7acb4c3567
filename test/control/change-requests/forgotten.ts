import { expect, test } from '@jest/globals'
import { sealTrail } from '../../support/compliance/trail.ts'
import { anAgentUnder, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { type InConsole, nameDeputy, peopleInConsole } from '../../support/identity/in-console.ts'
import { assertion, linkedChallenge, signed } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })

const twoOwners = { aboveEuros: 20, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const

/** Two owners, who approve changes together, and two approvers. */
async function anOffice() {
  const owner = await service.owner()
  const people = await peopleInConsole(service, owner, ['owner', 'owner', 'approver', 'approver'])
  const [ada, bob, clerk, dan] = people as [InConsole, InConsole, InConsole, InConsole]
  const agent = await anAgentUnder(owner.client, { approval: [twoOwners] })
  return { ...owner, ada, bob, clerk, dan, agent }
}

/** Removes the person, and lets the eight days pass in which they are erased. */
async function erase({ client, ada, clerk: { personId: id } }: Awaited<ReturnType<typeof anOffice>>) {
  await bodyOf(client.people.remove({ params: { id } }))
  const subject = { type: 'person', id } as const
  const webauthnAssertion = await assertion(client, ada, { purpose: 'deletion', subject })
  const params = await bodyOf(client.gdpr.createDeletion({ body: { subject, webauthnAssertion } }))
  await sealTrail(service)
  await bodyOf(client.sandbox.advance({ body: { days: 8 } }))
  expect((await bodyOf(client.gdpr.getDeletion({ params }))).status).toBe('completed')
}

test('the address of a person is erased with their removal, and that of nobody at all once nothing came of it', async () => {
  const { client, ada, bob } = await anOffice()
  const invite = async (email: string) => {
    const subject = { name: 'Grace', email, role: 'owner' as const }
    const webauthnAssertion = await assertion(ada.client, ada, { purpose: 'invitation', subject })
    return (await ada.client.people.create({ body: { ...subject, webauthnAssertion } })).body as {
      id: string
    }
  }
  const [applied, rejected, expired] = [
    await invite('applied@example.com'),
    await invite('rejected@example.com'),
    await invite('expired@example.com'),
  ]
  const approve = (body: object) => bob.client.changeRequests.approve({ params: applied, body })
  const challenge = await linkedChallenge(bob.client, await approve({}))
  const { personId } = await bodyOf(approve({ webauthnAssertion: signed(challenge, bob.device) }))
  await bodyOf(client.changeRequests.reject({ params: rejected, body: { reason: 'No' } }))
  const list = async () => JSON.stringify((await bodyOf(client.changeRequests.list())).data)
  expect(await list()).toContain('applied@example.com')
  expect(await list()).toContain('expired@example.com')
  expect(await list()).not.toContain('rejected@example.com')
  await bodyOf(client.people.remove({ params: { id: String(personId) } }))
  await bodyOf(client.sandbox.advance({ body: { days: 4 } }))
  const left = await service.sql('select * from change_requests where id = any($1)', [
    [applied, rejected, expired].map(({ id }) => id),
  ])
  expect(JSON.stringify(left)).not.toContain('@example.com')
  expect(await list()).toContain('owner, “[forgotten]”')
})

test('the erasure of a deputy forgets their name in the change that named them', async () => {
  const office = await anOffice()
  const { client, ada, bob, clerk } = office
  await nameDeputy(ada, clerk, { by: bob })
  await erase(office)
  const { data } = await bodyOf(client.changeRequests.list())
  expect(data).toMatchObject([{ operation: 'deputies.create', status: 'applied', changes: [] }])
  expect(JSON.stringify(data)).not.toContain(clerk.name)
})

test('a change about a person who was erased says what it was, and of whom no more', async () => {
  const office = await anOffice()
  const { client, ada, bob, clerk } = office
  const subject = { personId: clerk.personId, role: 'owner' as const }
  const consent = await assertion(ada.client, ada, { purpose: 'invitation', subject })
  const { body: change } = await ada.client.people.update({
    params: { id: clerk.personId },
    body: { role: 'owner', webauthnAssertion: consent },
  })
  const approve = (body: object) => bob.client.changeRequests.approve({ params: { id: change.id }, body })
  const challenge = await linkedChallenge(bob.client, await approve({}))
  await bodyOf(approve({ webauthnAssertion: signed(challenge, bob.device) }))
  await erase(office)
  const { data } = await bodyOf(client.changeRequests.list())
  expect(data).toMatchObject([{ operation: 'people.update', status: 'applied', changes: [] }])
  expect(JSON.stringify(data)).not.toContain(clerk.name)
})

test('the erasure of a person forgets their name where a policy was to ask them, or another person by a new role', async () => {
  const office = await anOffice()
  const { client, ada, bob, clerk, dan, agent } = office
  const { id } = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
  const of = [ada.personId, clerk.personId]
  const named = await client.policies.replace({
    params: { id },
    body: { name: 'P', approval: [{ ...twoOwners, of }] },
  })
  await proposePromotion(office)
  const list = async () => (await bodyOf(client.changeRequests.list())).data
  for (const { changes } of await list()) expect(JSON.stringify(changes)).toContain(clerk.personId)
  await erase(office)
  const operations = ['people.update', 'policies.replace'] as const
  expect(named.status).toBe(202)
  expect(await list()).toMatchObject(operations.map(operation => ({ operation, changes: [] })))
  expect(await list()).toMatchObject([{ personId: dan.personId, proposedBy: { id: bob.personId } }, {}])
  expect(JSON.stringify(await list())).not.toContain(clerk.name)
})

/** Bob proposes that an approver, whose deputy is the clerk, becomes an owner. */
async function proposePromotion({ bob, clerk, dan }: Awaited<ReturnType<typeof anOffice>>): Promise<void> {
  await nameDeputy(dan, clerk)
  const subject = { personId: dan.personId, role: 'owner' as const }
  const webauthnAssertion = await assertion(bob.client, bob, { purpose: 'invitation', subject })
  const answer = await bob.client.people.update({
    params: { id: dan.personId },
    body: { role: 'owner', webauthnAssertion },
  })
  expect(answer.status).toBe(202)
}

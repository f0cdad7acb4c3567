import { describe, expect, test } from '@jest/globals'
import { approvers } from '../../support/cards/several-approvers.ts'
import { aPolicy, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPerson } from '../../support/identity/people.ts'

const service = await startTestService()

/** An account whose two approvers are asked above € 20, with an agent that has the template with these steps. */
async function anAccount() {
  const owner = await service.owner()
  const { client } = owner
  const people = [
    await aPerson(service, owner, { role: 'owner' }),
    await aPerson(service, owner, { role: 'approver' }),
  ]
  const { id: policyId } = await aPolicy(client, { name: 'Two', approval: [approvers(2)] })
  const create = (template: string | null) =>
    client.agents.create({ body: { name: 'Reader', policyId: template } })
  return { client, people, policyId, create, agent: await bodyOf(create(policyId)) }
}

const remove = (client: TestClient, id: string) => client.agents.delete({ params: { id } })

describe('where a policy in force asks people', () => {
  test('a new agent begins with no fewer people, and the refusal names the policy', async () => {
    const { client, policyId, agent, create } = await anAccount()
    const fewer = await aPolicy(client, { name: 'One', approval: [approvers(1)] })
    const later = await aPolicy(client, { name: 'Later', approval: [approvers(2, { aboveEuros: 30 })] })
    const more = await aPolicy(client, { name: 'Sooner', approval: [approvers(2, { aboveEuros: 10 })] })
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    for (const template of [null, 'standard', fewer.id, later.id])
      expect(await create(template)).toMatchObject({
        status: 400,
        code: 'approval_needed',
        error: expect.stringContaining(
          `policyId: the policy “Two” (${policy.id}) asks people (above € 20.00: 2 approvers`,
        ),
      })
    expect((await bodyOf(client.agents.list({}))).data).toHaveLength(1)
    for (const template of [policyId, more.id]) expect((await create(template)).status).toBe(201)
  })

  test('the last agent with steps is not deleted, of two that are deleted at once', async () => {
    const { client, policyId, agent, create } = await anAccount()
    const other = await bodyOf(create(policyId))
    const answers = await Promise.all([agent, other].map(({ id }) => remove(client, id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    expect(answers.find(({ status }) => status === 400)).toMatchObject({
      code: 'approval_needed',
      error: expect.stringContaining('Remove its steps first (PUT /policies/'),
    })
  })

  test('the last one is deleted where too few of the people have been left for three days, and a new agent needs no steps', async () => {
    const { client, people, agent, create } = await anAccount()
    await bodyOf(client.people.remove({ params: { id: String(people[0]?.id) } }))
    expect(await create(null)).toMatchObject({ code: 'approval_needed' })
    expect(await remove(client, agent.id)).toMatchObject({ code: 'approval_needed' })
    await bodyOf(client.sandbox.advance({ body: { days: 3 } }))
    expect((await create(null)).status).toBe(201)
    expect((await remove(client, agent.id)).status).toBe(200)
  })
})

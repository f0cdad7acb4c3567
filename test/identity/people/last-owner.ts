import { describe, expect, test } from '@jest/globals'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { assertion, type Enrolled, enrolled } from '../../support/identity/people.ts'
import { service } from './people-service.ts'

const demote = async (client: TestClient, { personId }: Enrolled, by: Enrolled) => {
  const consent = await assertion(client, by, {
    purpose: 'invitation',
    subject: { personId, role: 'viewer' },
  })
  return client.people.update({
    params: { id: personId },
    body: { role: 'viewer', webauthnAssertion: consent },
  })
}

const remove = (client: TestClient, { personId: id }: Pick<Enrolled, 'personId'>) =>
  client.people.remove({ params: { id } })

const owners = async (client: TestClient) =>
  (await bodyOf(client.people.list({ query: { role: 'owner' } }))).data.filter(
    ({ status }) => status !== 'removed',
  )

async function twoOwners() {
  const account = await service.owner()
  const first = await enrolled(service, account)
  return { client: account.client, first, second: await enrolled(service, account, { by: first }) }
}

describe('the last owner who has a passkey', () => {
  test('cannot be removed or demoted', async () => {
    const account = await service.owner()
    const { client } = account
    const owner = await enrolled(service, account)
    const approver = await enrolled(service, account, { role: 'approver', by: owner })
    for (const answer of [await remove(client, owner), await demote(client, owner, owner)])
      expect(answer).toMatchObject({ status: 400, code: 'last_owner' })
    expect((await remove(client, approver)).status).toBe(200)
    expect(await owners(client)).toMatchObject([{ id: owner.personId, status: 'active' }])
  })

  test('stays, even where there is another owner who has none', async () => {
    const { client, first, second } = await twoOwners()
    await bodyOf(
      client.passkeys.revoke({
        params: { id: second.passkeyId },
        body: {
          webauthnAssertion: await assertion(client, first, {
            purpose: 'revocation',
            subject: second.passkeyId,
          }),
        },
      }),
    )
    expect(await remove(client, first)).toMatchObject({ status: 400, code: 'last_owner' })
    expect((await remove(client, second)).status).toBe(200)
  })

  test('remains the last owner after the passkey is revoked, and can be recovered', async () => {
    const account = await service.owner()
    const { client } = account
    const owner = await enrolled(service, account)
    await client.passkeys.revoke({ params: { id: owner.passkeyId } })
    expect(await remove(client, owner)).toMatchObject({ status: 400, code: 'last_owner' })
    expect((await service.dash.people.recover({ params: { id: owner.personId } })).status).toBe(201)
  })

  test.each(Array.from({ length: 4 }, (_, round) => round))(
    'is one of two who are removed at once, round %i',
    async () => {
      const { client, first, second } = await twoOwners()
      const answers = await Promise.all([remove(client, first), remove(client, second)])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
      expect(answers.find(({ status }) => status === 400)?.code).toBe('last_owner')
      expect(await owners(client)).toHaveLength(1)
    },
  )

  test('stays where one is demoted while the other one is removed', async () => {
    const { client, first, second } = await twoOwners()
    const answers = await Promise.all([demote(client, first, second), remove(client, second)])
    const left = await owners(client)
    expect(left).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('is no concern while the account has never had a passkey', async () => {
    const { client } = await service.owner()
    const { id } = await bodyOf(client.people.create({ body: { name: 'Ada', role: 'owner' } }))
    expect((await client.people.update({ params: { id }, body: { role: 'viewer' } })).status).toBe(200)
    expect((await remove(client, { personId: id })).status).toBe(200)
  })
})

describe('a removed person', () => {
  test('has no passkey any more, and signs nothing', async () => {
    const { client, first, second } = await twoOwners()
    const consent = await assertion(client, second, {
      purpose: 'invitation',
      subject: { name: 'Eve', role: 'owner' },
    })
    const removal = await remove(client, second)
    expect(removal.status).toBe(200)
    const body = { name: 'Eve', role: 'owner', webauthnAssertion: consent } as const
    expect(await client.people.create({ body })).toMatchObject({ status: 401, code: 'assertion_invalid' })
    const passkeys = (await bodyOf(client.passkeys.list({ query: { status: 'active' } }))).data
    expect(passkeys.map(({ personId }) => personId)).toEqual([first.personId])
    const events = (await bodyOf(client.events.list())).data.map(({ event }) => event)
    expect(events).toEqual(expect.arrayContaining(['person.removed', 'passkey.revoked']))
  })
})

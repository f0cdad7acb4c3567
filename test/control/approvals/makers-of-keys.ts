import { beforeAll, describe, expect, test } from '@jest/globals'
import { approvers } from '../../support/cards/several-approvers.ts'
import { signatureOver } from '../../support/control/approvals.ts'
import {
  aDelegation,
  aKey,
  anAgentUnder,
  anIntent,
  aToken,
  bodyOf,
  redeemDelegation,
  type TestClient,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { type InConsole, peopleInConsole } from '../../support/identity/in-console.ts'
import { assertion } from '../../support/identity/people.ts'

const service = await startTestService()
const WANTED = { name: 'Build server', environment: 'sandbox' } as const

describe('who made a key in the console does not approve', () => {
  let account: TestClient
  let agentId: string
  let boss: InConsole
  let other: InConsole
  beforeAll(async () => {
    const owner = await service.owner()
    account = owner.client
    const people = (await peopleInConsole(service, owner, ['owner', 'owner'])) as [InConsole, InConsole]
    ;[boss, other] = people
    ;({ id: agentId } = await anAgentUnder(account, { approval: [approvers(1)] }))
  })

  const clientOf = ({ key }: { readonly key: string | null }) => service.client(String(key))
  const keyOf = async (person: InConsole) => {
    const webauthnAssertion = await assertion(person.client, person, { purpose: 'key', subject: WANTED })
    return bodyOf(person.client.keys.create({ body: { ...WANTED, webauthnAssertion } }))
  }

  /** The requester of an intent that the caller declares is refused, and the other person approves. */
  async function expectRequester(caller: TestClient, requester = boss, approver = other) {
    const { id } = await anIntent(caller, agentId)
    const challenge = requester.client.intents.challenge({ params: { intentId: id }, body: {} })
    expect(await challenge).toMatchObject({ status: 403, code: 'own_request' })
    const webauthnAssertion = await signatureOver(approver.client, id, approver)
    const approval = approver.client.intents.approve({ params: { id }, body: { webauthnAssertion } })
    expect(await bodyOf(approval)).toMatchObject({ status: 'approved' })
    await bodyOf(account.intents.cancel({ params: { id } }))
  }

  test('what the key asks for, and the key names them', async () => {
    const key = await keyOf(boss)
    expect(key).toMatchObject({ personId: null, madeById: null, madeByPersonId: boss.personId })
    const client = clientOf(key)
    expect(await bodyOf(client.keys.current())).toMatchObject({ madeByPersonId: boss.personId })
    await expectRequester(client)
  })

  test('what its keys, tokens and delegations ask for', async () => {
    const client = clientOf(await keyOf(boss))
    const made = await aKey(client)
    expect(made).toMatchObject({ madeByPersonId: boss.personId })
    await expectRequester(clientOf(made))
    const { token } = await aToken(client, agentId)
    await expectRequester(service.client(String(token)))
    const delegated = await redeemDelegation(
      account,
      await aDelegation(client, agentId, { maxAmountEuros: 50 }),
    )
    await expectRequester(service.client(String(delegated.token)))
  })

  test('what a card is requested for with it', async () => {
    const client = clientOf(await keyOf(boss))
    const body = { type: 'new_card' as const, agentId, limits: { monthlyLimitEuros: 50 }, reason: 'Books' }
    const { id } = await bodyOf(client.cardRequests.create({ body }))
    expect(await boss.client.cardRequests.approve({ params: { id }, body: {} })).toMatchObject({
      status: 403,
      code: 'own_request',
    })
  })

  test('what is asked for with its replacement, by itself or by a key of the account', async () => {
    const key = await keyOf(boss)
    const params = { id: key.id }
    const own = await bodyOf(clientOf(key).keys.rotate({ params, body: {} }))
    await expectRequester(clientOf(own))
    const again = await bodyOf(account.keys.rotate({ params: { id: own.id }, body: {} }))
    expect(again).toMatchObject({ madeByPersonId: boss.personId })
    await expectRequester(clientOf(again))
  })

  test('but who has replaced the key, and so knows its secret, if it is another person', async () => {
    const { id } = await keyOf(boss)
    const webauthnAssertion = await assertion(other.client, other, { purpose: 'key', subject: { keyId: id } })
    const replaced = await bodyOf(other.client.keys.rotate({ params: { id }, body: { webauthnAssertion } }))
    expect(replaced).toMatchObject({ madeByPersonId: other.personId })
    await expectRequester(clientOf(replaced), other, boss)
  })

  test('and keeps no less of the account in the key’s reach', async () => {
    const scopes = ['passkeys:write' as const]
    const subject = { ...WANTED, scopes }
    const webauthnAssertion = await assertion(boss.client, boss, { purpose: 'key', subject })
    const key = await bodyOf(boss.client.keys.create({ body: { ...subject, webauthnAssertion } }))
    const { passkeys } = clientOf(key)
    const [passkey] = (await bodyOf(account.passkeys.list({ query: {} }))).data.filter(
      ({ personId }) => personId === other.personId,
    )
    const renamed = passkeys.rename({ params: { id: String(passkey?.id) }, body: { name: 'Phone' } })
    expect((await renamed).status).toBe(200)
  })
})

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import {
  aDelegation,
  aKey,
  anAgent,
  aToken,
  bodyOf,
  redeemDelegation,
  type TestClient,
} from '../../support/factories.ts'
import { http } from '../../support/harness.ts'
import { otherProcessUrl, service } from './keys-service.ts'

/** A credential, and how to end it. */
interface Ending {
  readonly secret: string
  readonly end: () => Promise<unknown>
}

interface Holder {
  readonly client: TestClient
  readonly ownerId: string
  readonly agentId: string
}

async function aHolder(): Promise<Holder> {
  const { client, ownerId } = await service.owner()
  return { client, ownerId, agentId: (await anAgent(client)).id }
}

const aChild = async ({ client, agentId }: Holder, under: string): Promise<string> => {
  const child = await aDelegation(client, agentId, {
    parentDelegationId: under,
    maxAmountEuros: 1,
    expiresInMinutes: 30,
  })
  return String((await redeemDelegation(service.client(), child)).token)
}

const endings: Readonly<Record<string, (holder: Holder) => Promise<Ending>>> = {
  async 'a key that is revoked'({ client }) {
    const { id, key } = await aKey(client)
    return { secret: String(key), end: () => bodyOf(client.keys.revoke({ params: { id } })) }
  },
  async 'a key that is replaced'({ client }) {
    const { id, key } = await aKey(client)
    return { secret: String(key), end: () => bodyOf(client.keys.rotate({ params: { id } })) }
  },
  async 'an agent token'({ client, agentId }) {
    const { id, token } = await aToken(client, agentId)
    const params = { id: agentId, tokenId: id }
    return { secret: String(token), end: () => bodyOf(client.agentTokens.revoke({ params })) }
  },
  async 'the token of an agent that is deleted'({ client, agentId }) {
    const { token } = await aToken(client, agentId)
    const params = { id: agentId }
    return { secret: String(token), end: () => bodyOf(client.agents.delete({ params })) }
  },
  async 'the token of a delegation'({ client, agentId }) {
    const delegation = await aDelegation(client, agentId)
    const { token } = await redeemDelegation(service.client(), delegation)
    const params = { id: delegation.id }
    return { secret: String(token), end: () => bodyOf(client.delegations.revoke({ params })) }
  },
  async 'the token of a delegation below one that is revoked'(holder) {
    const { id } = await aDelegation(holder.client, holder.agentId)
    const secret = await aChild(holder, id)
    return { secret, end: () => bodyOf(holder.client.delegations.revoke({ params: { id } })) }
  },
  async 'the key of a customer who is suspended'({ client, ownerId }) {
    const { key } = await aKey(client)
    const change = { params: { id: ownerId }, body: { status: 'suspended' } } as const
    return { secret: String(key), end: () => bodyOf(service.dash.customers.update(change)) }
  },
}

describe('an ended credential stops working at once in this process, and within 100 ms in the others', () => {
  test.each(Object.entries(endings))('%s', async (_, make) => {
    const { secret, end } = await make(await aHolder())
    const statusAt = async (url: string) => (await http(url, 'GET', '/agents', { token: secret })).status
    expect([await statusAt(service.url), await statusAt(otherProcessUrl)]).toEqual([200, 200])
    await end()
    expect([401, 403]).toContain(await statusAt(service.url))
    await sleep(100)
    expect([401, 403]).toContain(await statusAt(otherProcessUrl))
  })
})

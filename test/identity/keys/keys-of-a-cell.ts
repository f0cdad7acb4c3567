import { expect, test } from '@jest/globals'
import { aDelegation, anAgent, aToken, bodyOf, redeemDelegation } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { isAccepted } from '../../support/keys.ts'

const service = await startTestService({ env: { CELL: 'c2' } })

test('the keys and agent tokens of a cell name it before the random digits, and work', async () => {
  const { client, key: first } = await service.owner()
  expect(first).toMatch(/^sk_sandbox_c2_[0-9A-Za-z]{43}$/)
  const { key } = await bodyOf(client.keys.create({ body: { name: 'Server', environment: 'test' } }))
  expect(key).toMatch(/^sk_test_c2_[0-9A-Za-z]{43}$/)
  expect(await isAccepted(service.client(String(key)))).toBe(true)

  const agent = await anAgent(client)
  const { token } = await aToken(client, agent.id)
  expect(token).toMatch(/^at_test_c2_[0-9A-Za-z]{43}$/)
  expect((await service.client(String(token)).intents.list()).status).toBe(200)

  const redeemed = await redeemDelegation(service.client(), await aDelegation(client, agent.id))
  expect(redeemed.token).toMatch(/^at_dlg_c2_[0-9A-Za-z]{43}$/)
})

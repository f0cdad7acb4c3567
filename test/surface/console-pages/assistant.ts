import { expect, test } from '@jest/globals'
import { runCommand } from '../../support/command.ts'
import { aFundedAgent, aPolicy, bodyOf } from '../../support/factories.ts'
import { anAssistant, textOf } from '../../support/http/assistant.ts'
import { aConfiguration } from '../../support/identity/key-files.ts'
import { newsIn, openAsOwner } from './devices.ts'
import { origin, service } from './pages-service.ts'

const PHONE = { width: 360, height: 700 }

test('an assistant with the key of a login declares, waits while its person approves on a phone, and pays', async () => {
  const { client } = await service.owner()
  const policy = await aPolicy(client, { autoApproveLimitEuros: 5 })
  const [agent, supplier] = [
    await aFundedAgent(client, { policyId: policy.id }),
    await aFundedAgent(client, { name: 'Supplier' }),
  ]
  const { page, complaints } = await openAsOwner(client, { viewport: PHONE })
  const machine = aConfiguration()
  let shown = ''
  let waits = 0
  const login = await runCommand(['login', '--no-browser', '--tool-writes'], {
    env: { ...machine.env, AGENTPAY_URL: service.url },
    onError: text => {
      shown += text
    },
    wait: async () => {
      if (++waits !== 2) return
      await page.goto(`${origin}${/\/cli\/[\w-]{43}/.exec(shown)?.[0]}`)
      await page.getByRole('button', { name: 'Connect with passkey' }).click()
      await newsIn(page).filter({ hasText: 'Done.' }).waitFor()
    },
  })
  expect(login.code).toBe(0)

  const { key } = machine.read().profiles.default as { key: string }
  const { call } = await anAssistant(service.url, key, { version: '2026-07-28' })
  const declared = await call('declare_intent', {
    agentId: agent.id,
    amountEuros: 12.5,
    walletId: supplier.walletId,
    purpose: 'A data set',
  })
  const { id: intentId, status, approvalUrl } = declared.structuredContent
  expect([status, textOf(declared)]).toEqual(['created', expect.stringContaining(approvalUrl)])
  const waiting = call('wait_for_intent', { intentId })
  await page.goto(approvalUrl)
  await page.getByRole('button', { name: 'Approve with passkey' }).click()
  await newsIn(page).filter({ hasText: 'Approved.' }).waitFor()
  expect((await waiting).structuredContent).toMatchObject({ id: intentId, status: 'approved' })
  expect((await call('pay_intent', { intentId })).structuredContent).toMatchObject({ status: 'completed' })
  expect(await bodyOf(client.intents.get({ params: { id: intentId } }))).toMatchObject({
    status: 'completed',
    decidedBy: { type: 'console' },
  })
  expect(complaints).toEqual([])
})

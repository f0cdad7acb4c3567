import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { quickstartSteps } from '../../../../src/derive/docs/quickstart.ts'
import { freePort } from '../../../../src/dev/processes/free-port.ts'
import { signWebhookHeaders } from '../../../../src/values/webhook-signature.ts'
import { temporaryFolder } from '../../../support/processes/folders.ts'
import { launch } from '../../../support/processes/launched.ts'
import { until } from '../../../support/until.ts'
import { service } from '../docs-service.ts'

test('the quickstart works as it is pasted', async () => {
  const { key } = await service.owner()
  const script = quickstartSteps(service.url).map(({ curl }) => curl)
  // The key is where `npm start` writes it.
  const DATA_DIR = temporaryFolder()
  writeFileSync(join(DATA_DIR, 'instance.json'), JSON.stringify({ url: service.url, apiKey: key }, null, 2))
  const { KEY: _, ...shell } = process.env
  const env = { ...shell, DATA_DIR, RECEIVER: String(await freePort(0)) }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script.join('\n')], { env })
  const answers = stdout.split('\n').filter(line => line.startsWith('{'))
  const [, , , , approved, paid, balance] = answers.map(line => JSON.parse(line))
  expect([approved.status, paid.merchant_status, balance.availableEuros]).toEqual(['approved', 200, 17.5])
  expect(stdout).toContain('transaction.completed: € 2.50 to 127.0.0.1, completed')
})

test('its receiver prints an event that is no payment', async () => {
  const PORT = String(await freePort(0))
  const secret = 'whsec_a'
  const receiver = launch(process.execPath, ['examples/first-payment/receiver.mjs'], {
    PORT,
    AGENTPAY_WEBHOOK_SECRET: secret,
  })
  const body = '{"event":"agent.frozen","data":{"agentId":"agent_1"}}'
  const event = { deliveryId: 'delivery_1-1', eventId: 'event_1', at: new Date(), event: 'agent.frozen' }
  const headers = signWebhookHeaders({ ...event, body, requestId: 'r1' }, { current: secret, next: null })
  const send = () =>
    fetch(`http://127.0.0.1:${PORT}/`, { method: 'POST', headers, body }).then(
      ({ status }) => status,
      () => undefined,
    )
  expect(await until('the receiver', send)).toBe(204)
  expect(await receiver.exit).toBe(0)
  expect(receiver.output()).toContain('agent.frozen: {"agentId":"agent_1"}')
})

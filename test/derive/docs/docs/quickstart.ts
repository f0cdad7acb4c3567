import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { stepsFor } from '../../../../src/derive/docs/quickstart-steps.ts'
import { freePort } from '../../../../src/dev/processes/free-port.ts'
import { service } from '../docs-service.ts'

test('the quickstart works as it is pasted', async () => {
  const { key } = await service.owner()
  const script = stepsFor(service.url, key).map(({ curl }) => curl)
  const env = { ...process.env, RECEIVER: String(await freePort(0)) }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script.join('\n')], { env })
  const answers = stdout.split('\n').filter(line => line.startsWith('{'))
  const [, , , , approved, paid, balance] = answers.map(line => JSON.parse(line))
  expect([approved.status, paid.merchant_status, balance.availableEuros]).toEqual(['approved', 200, 17.5])
  expect(stdout).toContain('transaction.completed: € 2.5 to 127.0.0.1, completed')
})

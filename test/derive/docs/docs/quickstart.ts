import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { quickstartSteps } from '../../../../src/derive/docs/quickstart.ts'
import { freePort } from '../../../../src/dev/processes/free-port.ts'
import { temporaryFolder } from '../../../support/processes/folders.ts'
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

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { DASHBOARD_SECRET, startTestService } from '../../support/harness.ts'

const page = readFileSync('docs/how-to/payment-tokens.md', 'utf8')
const flow = /<!-- owners -->\n```bash\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
const run = promisify(execFile)

const service = await startTestService()

test('the flow of paying another owner works as it is pasted', async () => {
  const { key: KEY } = await service.owner()
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { PATH, KEY, URL: service.url, DASHBOARD: DASHBOARD_SECRET }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], { env })
  const answers = stdout
    .replaceAll('}{', '}\n{')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const [, paid, request, charged, refused, tokens, ofPayer, ofPayee, ...rest] = answers
  expect(rest).toEqual([])
  expect(paid).toMatchObject({ status: 'completed' })
  expect(request).toMatchObject({ status: 'paid', paidBy: 'wallet', paidEuros: 5 })
  expect(charged).toMatchObject({ status: 'completed', amountEuros: 2.5 })
  expect(refused).toEqual({ error: 'paymentToken: it has already been charged. Each can be charged once.' })
  expect(tokens.data).toMatchObject([
    { status: 'charged', chargedEuros: 2.5, recipientName: 'Adler GmbH', hint: expect.any(String) },
  ])
  for (const proof of [ofPayer, ofPayee]) expect(proof).toMatchObject({ ok: true, problems: [] })
})

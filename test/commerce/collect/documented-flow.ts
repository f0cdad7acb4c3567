import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { startTestService } from '../../support/harness.ts'

const page = readFileSync('docs/tutorials/get-paid.md', 'utf8')
const flow = /<!-- being-paid -->\n```bash\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
const run = promisify(execFile)

const service = await startTestService()

test('the flow of being paid works as it is pasted', async () => {
  const { key: KEY } = await service.owner()
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { PATH, KEY, URL: service.url }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], { env })
  const answers = stdout
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map(line => JSON.parse(line))
  const [asked, , , paid, request, payments, refunded, , , second, surplus, third, proof, ...rest] = answers
  expect(rest).toEqual([])
  expect(asked).toMatchObject({ status: 402, type: expect.stringContaining('payment-required') })
  expect(paid).toMatchObject({
    merchant_status: 200,
    merchant_body: { unlocks: { url: 'https://example.com/reports/17' } },
    receipt: expect.any(String),
  })
  expect(request).toMatchObject({ status: 'paid', paidBy: 'card', paidEuros: 5 })
  expect(payments.data).toMatchObject([{ way: 'card', status: 'received', countedEuros: 5 }])
  expect(refunded).toMatchObject({ status: 'paid', refundedEuros: 2, refunds: [{ status: 'completed' }] })
  expect(second).toMatchObject({ status: 'paid', paidEuros: 20, surplusEuros: 1 })
  expect(surplus).toMatchObject({ refundingEuros: 1, refunds: [{ way: 'sepa', status: 'pending' }] })
  expect(third).toMatchObject({ status: 'paid', paidBy: 'sepa' })
  expect(proof).toMatchObject({ ok: true, problems: [] })
})

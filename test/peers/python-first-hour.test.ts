import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { quickstartSteps } from '../../src/derive/docs/quickstart.ts'
import { startTestService } from '../support/harness.ts'
import { aPythonWithThePackage } from '../support/packages/python.ts'

const [service, { folder, python }] = await Promise.all([
  startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } }),
  aPythonWithThePackage('sdist', 'mypy==1.18.2'),
])

const quickstart = quickstartSteps(service.url)
  .slice(0, -1)
  .map(({ python }) => python)
  .join('\n')

async function runProgram(text: string): Promise<string> {
  writeFileSync(join(folder, 'program.py'), text)
  const { key } = await service.owner()
  return python(['program.py'], { AGENTPAY_URL: service.url, AGENTPAY_KEY: key })
}

describe('the package of Python in the first hour', () => {
  test('runs the quickstart of /docs', async () => {
    const told = await runProgram(quickstart)
    expect(told).toMatch(/^policy_\w+\ncreated\n/)
    for (const line of [
      "'availableEuros': 17.5",
      "'closingEuros': 17.5",
      'transaction.completed {',
      "'ok': True",
    ])
      expect(told).toContain(line)
  })

  test.each(['sync', 'async'])(
    'waits for a decision with the %s client, for as long as it is told',
    async kind => {
      const [client, wait] = kind === 'sync' ? ['AgentPay', ''] : ['AsyncAgentPay', 'await ']
      const program = `import asyncio, json
from agentpay import ${client}
async def main():
    pay = ${client}()
    agent = ${wait}pay.agents.create({"name": "Reader"})
    declared = ${wait}pay.intents.create({"agentId": agent["id"], "amountEuros": 1, "merchant": "Shop", "purpose": "A page"})
    told = [(${wait}pay.intents.wait(declared["id"], within=0))["status"]]
    told.append((${wait}pay.intents.wait(declared["id"], within=0.01))["status"])
    ${wait}pay.intents.deny(declared["id"], {"reason": "Not this one"})
    told.append((${wait}pay.intents.wait(declared["id"]))["status"])
    try:
        ${wait}pay.intents.wait(declared["id"], within=-1)
    except ValueError:
        told.append("refused")
    print(json.dumps(told))
asyncio.run(main())
`
      expect(JSON.parse(await runProgram(program))).toEqual(['created', 'created', 'denied', 'refused'])
    },
  )

  test('types its quickstart and its receiver strictly', async () => {
    const programs = {
      'quickstart.py': quickstart,
      'receiver.py': String(quickstartSteps('').at(-1)?.python),
    }
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(folder, name), text)
      const checked = python(['-m', 'mypy', '--strict', '--python-version', '3.10', name])
      expect(await checked.catch(error => error.stdout)).toContain('Success')
    }
  })
})
